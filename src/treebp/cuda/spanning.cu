// Batches of trees whose arcs may cross: the twin of treebp/kernels/nonprojective.py. A block has a sentence.
#include "dense_trees.cuh"
#include "matrix_tree.cuh"

// In real arithmetic; sentences for which that will not do are left to the other one.
template <class A, bool SHARED>
__device__ void in_real(const DenseTrees& trees, double* place) {
    typedef typename A::T T;
    Int b = blockIdx.x;
    int size = (int)trees.lengths[b] + 1, verdict = FINE, cells = size * size;
    bool refused = false;
    double log_partition = not_a_number();
    T *weights = take<T>(place, cells), *gains = take<T>(place, cells);
    double* tops = take<double>(place, trees.width + trees.width % 2);
    T *matrix = SHARED ? (T*)shared_memory : (T*)place, *lines = matrix + cells;
    if (size < 2 || size > trees.width)
        verdict = BAD_LENGTH;
    else
        log_partition = weigh<A>(trees, b, size, tops, weights, &verdict);
    if (verdict == FINE) {
        double log_z = sweep<A>(weights, size, trees.single_root, matrix, lines);
        refused = log_z != log_z || !nothing_lost<A>(log_z, weights, size, infinity());
        if (!refused) {
            double error = spanning_gains<A>(weights, size, trees.single_root, matrix, gains).absolute;
            // Derivatives square the condition: see treebp/kernels/nonprojective.py.
            refused = !(trees.direction ? error * error < 2e-11 * size * 2.3e-16 : error < 1e-11);
            log_partition += log_z;
        }
    }
    if (threadIdx.x == 0) {
        trees.refused[b] = refused;
        trees.verdicts[b] = verdict;
        if (trees.log_partition) trees.log_partition[b] = log_partition;
    }
    __syncthreads();
    if (!refused) write_out<A>(trees, b, size, verdict, weights, gains);
}

// In logarithms; few blocks share the room, and take the sentences that were refused.
template <class A>
__device__ void in_logs(const DenseTrees& trees, double* place) {
    for (Int b = blockIdx.x; b < trees.batch; b += gridDim.x) {
        if (!trees.refused[b]) continue;
        int size = (int)trees.lengths[b] + 1, verdict = FINE, cells = size * size;
        double* own = place;
        Pair *weights = take<Pair>(own, cells), *gains = take<Pair>(own, cells);
        Ordered* levels = take<Ordered>(own, (Int)walk_depth(size) * cells);
        double log_partition = weigh<A>(trees, b, size, own, weights, &verdict);
        log_partition += log_spanning_gains(weights, size, trees.single_root, levels, gains).value;
        if (log_partition == -infinity()) verdict = NO_TREE;
        if (threadIdx.x == 0) {
            trees.verdicts[b] = verdict;
            if (trees.log_partition) trees.log_partition[b] = log_partition;
        }
        write_out<A>(trees, b, size, verdict, weights, gains);
        __syncthreads();
    }
}

template <class A>
__device__ void in_global_memory(const DenseTrees& trees, double* scratch) {
    in_real<A, false>(trees, scratch);
}
template <class A>
__device__ void in_shared_memory(const DenseTrees& trees, double* scratch) {
    in_real<A, true>(trees, scratch);
}

DENSE_TREES(spanning_marginals, 1024, in_global_memory, Real)
DENSE_TREES(spanning_marginals_shared, 512, in_shared_memory, Real)
DENSE_TREES(spanning_log_marginals, 512, in_logs, LogMarginal)
DENSE_TREES(spanning_product, 1024, in_global_memory, Dual)
DENSE_TREES(spanning_product_shared, 512, in_shared_memory, Dual)
DENSE_TREES(spanning_log_product, 512, in_logs, LogDual)
