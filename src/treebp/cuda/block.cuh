// What the threads of a block do together: loops, sums over lanes, and the verdicts on a sentence.
//
// The sources are compiled by NVRTC, which has no headers, and by the tests' emulator, in which a block's threads take
// turns on the CPU. All parameters of kernels are pointers or Int, so that both can pass them alike.
#pragma once

typedef long long Int;

#define FOR_THREADS(k, end) for (int k = threadIdx.x; k < (end); k += blockDim.x)
#define FOR_CELLS(row, column, size)                                                       \
    for (int row = threadIdx.x / 32; row < (size); row += blockDim.x / 32) /* a warp's row */ \
        for (int column = threadIdx.x % 32; column < (size); column += 32)
#define FOR_ALL_THREADS(k, end) \
    for (Int k = (Int)blockIdx.x * blockDim.x + threadIdx.x; k < (end); k += (Int)gridDim.x * blockDim.x)

__device__ inline double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }
__device__ inline double not_a_number() { return __longlong_as_double(0x7ff8000000000000LL); }

#ifdef EMULATED
alignas(16) static char shared_memory[1 << 18];
#else
extern __shared__ __align__(16) char shared_memory[];
#endif

enum Verdict { FINE = 0, NO_TREE = 1, BAD_SCORE = 2, BAD_LENGTH = 3 };

__device__ inline double shuffle(double value, int offset) { return __shfl_xor_sync(0xffffffffu, value, offset); }
__device__ inline int shuffle(int value, int offset) { return __shfl_xor_sync(0xffffffffu, value, offset); }

// Sum over groups of lanes (a power of two); each lane has the same sums, to the bit. Several wait for the others together.
template <class A, int COUNT>
__device__ void sum_over(typename A::Sum (&sums)[COUNT], int lanes) {
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
        typename A::Sum others[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; k++) others[k] = A::exchanged(sums[k], offset);
#pragma unroll
        for (int k = 0; k < COUNT; k++) A::merge(sums[k], others[k]);
    }
}
template <class A>
__device__ typename A::Sum sum_over(typename A::Sum sum, int lanes) {
    typename A::Sum sums[1] = {sum};
    sum_over<A>(sums, lanes);
    return sums[0];
}

__device__ inline double add(double one, double two) { return one + two; }
__device__ inline double larger(double one, double two) { return one != one || one > two ? one : two; }  // NaN stays

// Reduce over all threads of a block.
template <double (*combine)(double, double)>
__device__ double over_block(double value) {
    __shared__ double parts[32];
    for (int offset = 16; offset > 0; offset /= 2) value = combine(value, shuffle(value, offset));
    __syncthreads();  // who reads what an earlier call has left is done
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < blockDim.x / 32; warp++) value = combine(value, parts[warp]);
    return value;
}

__device__ inline int bits_for(int count) { return count > 1 ? 32 - __clz(count - 1) : 0; }  // to number so many

// How a block's threads, a power of two, share so many cells, each with so many terms: a power of two of lanes for a cell.
struct Shares {
    int bits, lanes, lane, own, at_once;  // the cell of this thread, and how many there are at a time
    __device__ Shares(int cells, int terms) {
        bits = max(0, min(min(5, bits_for(terms)), bits_for(blockDim.x) - bits_for(cells)));
        lanes = 1 << bits;
        lane = threadIdx.x & (lanes - 1);
        own = threadIdx.x >> bits;
        at_once = blockDim.x >> bits;
    }
};
