"""Groups of factors on a device, with their log-potentials: they answer messages, all of them in logarithms.

The twins of the senders in ``treebp.bp.groups``. Each has `constant`, whether it says the same whatever it hears;
`send`, which writes all messages and returns the function that maps their adjoint to that of what was received, and
adds to the adjoint of the log-potentials; and `sums`: how often each log-potential is expected to be used, and
log-partitions whose sum is the group's.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from treebp.cuda.dense_trees import log_blocks, shared_memory, threads_for, walk_depth
from treebp.cuda.launching import launch, launch_all

Backprop: TypeAlias = Callable[[Any, Any], Any]


class AllOn:
    """A weight when all of one, two or three variables are ON."""

    def __init__(self, arity: int, potentials: Any) -> None:
        self._potentials, self._arity, self.constant = potentials, arity, arity == 1

    def send(self, incoming: Any, outgoing: Any) -> Backprop:
        """Write all messages; return the backward pass."""
        count = len(self._potentials)
        launch_all("all_on.cu", "send_all_on", count, self._potentials, incoming, self._arity, count, outgoing)

        def backprop(adjoint: Any, of_potentials: Any) -> Any:
            out = None if self.constant else adjoint.new_empty(len(adjoint))
            arguments = (self._potentials, incoming, adjoint, self._arity, count, out, of_potentials)
            launch_all("all_on.cu", "send_all_on_backward", count, *arguments)
            return out

        return backprop

    def sums(self, incoming: Any) -> tuple[Any, Any]:
        """Expectations and log-partitions."""
        count = len(self._potentials)
        beliefs, log_partitions = incoming.new_empty((2, count))
        arguments = (self._potentials, incoming, self._arity, count, beliefs, log_partitions)
        launch_all("all_on.cu", "sum_all_on", count, *arguments)
        return beliefs, log_partitions


class Tables:
    """Tables of one shape; `axes` has, for each axis, states, stride, and where its messages begin."""

    def __init__(self, axes: Any, entries: int, count: int, constant: bool, potentials: Any) -> None:
        self._potentials, self._count, self.constant = potentials, count, constant
        self._shape = (axes, len(axes), entries, count)

    def send(self, incoming: Any, outgoing: Any) -> Backprop:
        """Write all messages; return the backward pass."""
        edges = self._count * self._shape[1]
        launch_all("tables.cu", "send_tables", edges, self._potentials, incoming, *self._shape, outgoing)

        def backprop(adjoint: Any, of_potentials: Any) -> Any:
            out = adjoint.new_zeros(len(adjoint))
            arguments = (self._potentials, incoming, adjoint, *self._shape, out, of_potentials)
            launch_all("tables.cu", "send_tables_backward", self._count, *arguments)
            return None if self.constant else out

        return backprop

    def sums(self, incoming: Any) -> tuple[Any, Any]:
        """Expectations and log-partitions."""
        beliefs, log_partitions = incoming.new_empty(len(self._potentials)), incoming.new_empty(self._count)
        arguments = (self._potentials, incoming, *self._shape, beliefs, log_partitions)
        launch_all("tables.cu", "sum_tables", self._count, *arguments)
        return beliefs, log_partitions


class Chains:
    """Chains of variables with the same states; `first` has where each begins."""

    constant = False

    def __init__(self, first: Any, positions: int, states: int, potentials: Any) -> None:
        self._first, self._positions, self._states, self._potentials = first, positions, states, potentials
        self._chains = len(first) - 1
        self._threads = min(256, 32 * -(-states // 32))

    def _send(self, incoming: Any, outgoing: Any) -> Any:
        inner = incoming.new_empty((2, self._positions * self._states))
        arguments = (self._first, incoming, self._potentials, self._states, inner[0], inner[1], outgoing)
        launch("chains.cu", "send_chains", self._chains, self._threads, *arguments)
        return inner

    def send(self, incoming: Any, outgoing: Any) -> Backprop:
        """Write all messages; return the backward pass."""
        inner = self._send(incoming, outgoing)

        def backprop(adjoint: Any, of_potentials: Any) -> Any:
            rows, out = inner.new_empty(inner.shape), adjoint.new_empty(len(adjoint))
            arguments = (adjoint, inner[0], inner[1], self._states, self._positions, rows[0], rows[1])
            launch_all("chains.cu", "chain_rows", rows.shape[1], *arguments)
            self._backward(incoming, inner, rows, out, of_potentials)
            return out

        return backprop

    def _backward(self, incoming: Any, inner: Any, rows: Any, out: Any, of_potentials: Any) -> None:
        received = inner.new_empty(inner.shape[1])
        arguments = (self._first, incoming, self._potentials, self._states, *inner, *rows, received, out, of_potentials)
        launch("chains.cu", "send_chains_backward", self._chains, self._threads, *arguments)

    def sums(self, incoming: Any) -> tuple[Any, Any]:
        """Expectations and log-partitions."""
        inner = self._send(incoming, incoming.new_empty(len(incoming)))
        rows, log_partitions = inner.new_empty(inner.shape), inner.new_empty(self._chains)
        arguments = (self._first, self._chains, incoming, self._states, inner[1], log_partitions, *rows)
        launch_all("chains.cu", "chain_partitions", self._chains, *arguments)
        expectations = inner.new_zeros(len(self._potentials))
        self._backward(incoming, inner, rows, None, expectations)
        return expectations, log_partitions


class TreeArcs(NamedTuple):
    """Candidate arcs of several trees: see ``treebp.kernels.tree_group``; and where each one's matrices begin.

    `first_position` has, after those of all trees, how many positions there are.
    """

    sizes: Any
    first: Any
    first_position: Any
    first_cell: Any
    heads: Any
    modifiers: Any
    starts: Any


class Trees:
    """Constraints that the arcs which are ON form trees."""

    constant = False

    def __init__(self, arcs: TreeArcs, largest: int, cells: int, projective: bool, single_root: bool) -> None:
        self._arcs, self._single_root, self._trees = arcs, single_root, len(arcs.sizes)
        self._source = "projective_factors.cu" if projective else "spanning_factors.cu"
        self._threads = min(threads_for(largest), 512)
        self._shared = [shared_memory(arcs.sizes.device, projective, largest, numbers) for numbers in (1, 2)]
        matrices = 10 if projective else 4
        self._room = matrices * cells + len(arcs.starts) + 1
        log_matrices = 2 * 8 if projective else 4 * walk_depth(largest)
        self._log_room = (10 + log_matrices) * largest * largest

    def _arguments(self, refused: Any) -> tuple[Any, ...]:
        return (*self._arcs, self._trees, self._single_root, refused)

    def _kernel(self, name: str, numbers: int) -> tuple[str, int]:
        """Its name, and the bytes of shared memory that it has."""
        where, shared = self._shared[numbers - 1]
        return (name + where, shared) if where == "_shared" else (name, 0)

    def _send(self, incoming: Any, outgoing: Any) -> tuple[Any, Any, Any]:
        kept, log_partitions = incoming.new_empty((2, len(incoming))), incoming.new_empty(self._trees)
        refused = self._arcs.sizes.new_empty(self._trees)
        results = (incoming, outgoing, *kept, log_partitions, incoming.new_empty(self._room))
        kernel, shared = self._kernel("send_trees", 1)
        launch(self._source, kernel, self._trees, self._threads, *self._arguments(refused), *results, shared=shared)
        blocks = log_blocks(self._trees, self._log_room)
        logs = (incoming, outgoing, log_partitions, incoming.new_empty(blocks * self._log_room), self._log_room)
        launch(self._source, "send_trees_in_logs", blocks, self._threads, *self._arguments(refused), *logs)
        return kept, refused, log_partitions

    def send(self, incoming: Any, outgoing: Any) -> Backprop:
        """Write all messages; return the backward pass."""
        kept, refused, _ = self._send(incoming, outgoing)

        def backprop(adjoint: Any, of_potentials: Any) -> Any:
            out, changes = adjoint.new_empty((2, len(adjoint)))
            results = (incoming, *kept, adjoint, out, changes, adjoint.new_empty(2 * self._room))
            common = self._arguments(refused)
            kernel, shared = self._kernel("send_trees_backward", 2)
            launch(self._source, kernel, self._trees, self._threads, *common, *results, shared=shared)
            blocks = log_blocks(self._trees, self._log_room)
            logs = (incoming, outgoing, adjoint, out, adjoint.new_empty(blocks * self._log_room), self._log_room)
            launch(self._source, "send_trees_in_logs_backward", blocks, self._threads, *common, *logs)
            return out

        return backprop

    def sums(self, incoming: Any) -> tuple[Any, Any]:
        """No expectations; log-partitions, messages being taken as probabilities."""
        _, _, log_partitions = self._send(incoming, incoming.new_empty(len(incoming)))
        weights = incoming.new_empty(self._trees)
        launch_all("variables.cu", "total_softplus", self._trees, incoming, self._arcs.first, self._trees, weights)
        return incoming.new_empty(0), log_partitions - weights
