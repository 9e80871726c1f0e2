// Batches of projective trees: the twin of treebp/kernels/projective.py. A block has a sentence.
#include "dense_trees.cuh"
#include "eisner.cuh"

template <class A>
struct Room {  // of one sentence
    double* tops;
    typename A::T *weights, *gains, *charts;
    __device__ Room(double* place, int size) {
        weights = take<typename A::T>(place, size * size);
        gains = take<typename A::T>(place, size * size);
        tops = take<double>(place, size + size % 2);
        charts = (typename A::T*)place;
    }
};

// In real arithmetic; sentences for which that will not do are left to the other one.
template <class A, int PACKED>
__device__ void in_real(const DenseTrees& trees, double* scratch) {
    Int b = blockIdx.x;
    int size = (int)trees.lengths[b] + 1, verdict = FINE;
    bool refused = false;
    Room<A> room(scratch, size);
    Charts<A, PACKED> charts(room.charts, size);
    double log_partition = not_a_number();
    if (size < 2 || size > trees.width)
        verdict = BAD_LENGTH;
    else
        log_partition = weigh<A>(trees, b, size, room.tops, room.weights, &verdict);
    if (verdict == FINE) {
        typename A::T z = inside<A>(room.weights, size, trees.single_root, charts);
        double partition = A::value(z);
        refused = !(0.0 < partition && partition < 1e300) ||
            !nothing_lost<A>(log(partition), room.weights, size, size * log(6.75));
        if (!refused) {
            outside<A>(room.weights, size, trees.single_root, charts, z, room.gains);
            log_partition += log(partition);
        }
    }
    if (threadIdx.x == 0) {
        trees.refused[b] = refused;
        trees.verdicts[b] = verdict;
        if (trees.log_partition) trees.log_partition[b] = log_partition;
    }
    if (!refused) write_out<A>(trees, b, size, verdict, room.weights, room.gains);
}

// In logarithms; few blocks share the room, and take the sentences that were refused.
template <class A>
__device__ void in_logs(const DenseTrees& trees, double* scratch) {
    for (Int b = blockIdx.x; b < trees.batch; b += gridDim.x) {
        if (!trees.refused[b]) continue;
        int size = (int)trees.lengths[b] + 1, verdict = FINE;
        Room<A> room(scratch, size);
        Charts<A, 0> charts(room.charts, size);
        double log_partition = weigh<A>(trees, b, size, room.tops, room.weights, &verdict);
        typename A::T z = inside<A>(room.weights, size, trees.single_root, charts);
        log_partition += A::log_value(z);
        if (log_partition == -infinity())
            verdict = NO_TREE;
        else
            outside<A>(room.weights, size, trees.single_root, charts, z, room.gains);
        if (threadIdx.x == 0) {
            trees.verdicts[b] = verdict;
            if (trees.log_partition) trees.log_partition[b] = log_partition;
        }
        write_out<A>(trees, b, size, verdict, room.weights, room.gains);
        __syncthreads();
    }
}

template <class A>
__device__ void in_global_memory(const DenseTrees& trees, double* scratch) {
    in_real<A, 0>(trees, scratch);
}
template <class A>
__device__ void half_in_shared_memory(const DenseTrees& trees, double* scratch) {
    in_real<A, CHARTS / 2>(trees, scratch);
}
template <class A>
__device__ void in_shared_memory(const DenseTrees& trees, double* scratch) {
    in_real<A, CHARTS>(trees, scratch);
}

DENSE_TREES(projective_marginals, 1024, in_global_memory, Real)
DENSE_TREES(projective_marginals_half, 512, half_in_shared_memory, Real)
DENSE_TREES(projective_marginals_shared, 512, in_shared_memory, Real)
DENSE_TREES(projective_log_marginals, 512, in_logs, Log)
DENSE_TREES(projective_product, 1024, in_global_memory, Dual)
DENSE_TREES(projective_product_half, 512, half_in_shared_memory, Dual)
DENSE_TREES(projective_product_shared, 512, in_shared_memory, Dual)
DENSE_TREES(projective_log_product, 512, in_logs, LogDual)
