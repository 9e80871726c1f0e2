"""Asking for memory before it is needed."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from treebp._types import AnyArray


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        signature_of_llvm = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch.p0", (), signature_of_llvm)
        element = builder.bitcast(builder.gep(data, [arguments[1]]), address)
        for_reading, keep_close, data_cache = number(0), number(3), number(1)
        builder.call(function, [element, for_reading, keep_close, data_cache])
        return context.get_dummy_value()

    return types.void(array, index), generate


# prefetch(array, index), in kernels: start to bring an element into the caches. The index must be unsigned.
prefetch = cast(Callable[[AnyArray, np.uint32], None], intrinsic(_prefetch))
