// Batches of projective trees: the twin of treebp/kernels/projective.py. A block has a sentence.
#include "dense_trees.cuh"
#include "eisner.cuh"

#define FAINTEST 1e-290  // what is smaller may have lost digits to underflow
#define LARGEST 1e250    // beside a partition of one, items up to this lose nothing that matters

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

// After `inside`: multiply the weights of each modifier by what makes the partition of all trees up to it one, so that what
// grows with each word, or fades, does neither. Return whether that can be done without losing any.
template <class A, int PACKED>
__device__ bool rescale(
    typename A::T* weights, int size, bool single_root, const Charts<A, PACKED>& charts, double* scales
) {
    FOR_THREADS(j, size) {
        double partition = single_root ? 0.0 : A::value(charts.beginning(RIGHT, 0)[j]);
        for (int k = 1; single_root && k <= j; k++)
            partition += A::value(weights[k]) * A::value(charts.beginning(LEFT, 1)[k]) * A::value(charts.ending(RIGHT, j)[k]);
        scales[j] = partition;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        double before = 1.0;
        for (int j = 1; j < size; j++) {
            double partition = scales[j];
            scales[j] = partition == 0.0 ? 1.0 : before / partition;  // no tree ends here: the next one counts for both
            if (partition != 0.0) before = partition;
        }
    }
    __syncthreads();
    double lost = 0.0;
    FOR_CELLS(head, modifier, size) {
        double scale = modifier > 0 ? scales[modifier] : 1.0, weight = A::value(weights[head * size + modifier]);
        if (!(FAINTEST < scale && scale < 1.0 / FAINTEST) || (weight > FAINTEST && weight * scale <= FAINTEST)) lost = 1.0;
        weights[head * size + modifier] = A::scaled(weights[head * size + modifier], scale);
    }
    return over_block<larger>(lost) == 0.0;
}

// The largest number in the charts that `inside` and `outside` have filled, and among the gains; NaN if one is.
template <class A, int PACKED>
__device__ double largest_item(int size, bool single_root, const Charts<A, PACKED>& charts, const typename A::T* gains) {
    double largest = 1.0;
    FOR_CELLS(i, j, size) {
        if (j > 0) largest = larger(A::value(gains[i * size + j]), largest);
        for (int chart = 0; chart < CHARTS && i < j && !(single_root && i == 0); chart++)
            largest = larger(A::value(charts.beginning(chart, i)[j]), largest);
    }
    return over_block<larger>(largest);
}

// Whether real arithmetic will do, if need be with weights rescaled: see treebp/kernels/projective.py. Fill the gains.
template <class A, int PACKED>
__device__ bool sums(
    const Room<A>& room, int size, bool single_root, const Charts<A, PACKED>& charts, double* log_partition
) {
    for (bool rescaled = false;; rescaled = true) {
        typename A::T z = inside<A>(room.weights, size, single_root, charts);
        double partition = A::value(z), log_z = log(partition);
        if (!(0.0 < partition && partition < 1e300)) return false;
        *log_partition += log_z;
        if (rescaled || nothing_lost<A>(log_z, room.weights, size, size * log(6.75))) {
            outside<A>(room.weights, size, single_root, charts, z, room.gains);
            return !rescaled || (fabs(log_z) < 1.0 && largest_item<A>(size, single_root, charts, room.gains) < LARGEST);
        }
        if (!rescale<A>(room.weights, size, single_root, charts, room.tops)) return false;
    }
}

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
    if (verdict == FINE) refused = !sums<A>(room, size, trees.single_root, charts, &log_partition);
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
