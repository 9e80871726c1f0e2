// The matrix-tree theorem: the twin of treebp/kernels/matrix_tree.py, in real numbers or in those with derivatives, and
// of log_matrix_tree.py.
#pragma once
#include "algebra.cuh"

struct Errors {  // bounds: of weight * gain, and relative to the gains of arcs that have a weight
    double absolute, relative;
};

// Invert the Laplacian of weights[head, modifier] into `matrix`; return log Z, or NaN when out of range. `lines` has room
// for the pivot's row and column, which all other cells need: so one matrix will do, and two blocks fit where one would.
template <class A>
__device__ double sweep(
    const typename A::T* weights, int size, bool single_root, typename A::T* matrix, typename A::T* lines
) {
    typedef typename A::T T;
    T *pivot_row = lines, *pivot_column = lines + size;
    FOR_THREADS(cell, size * size) matrix[cell] = weights[cell];
    __syncthreads();
    double log_partition = 0.0;
    int stop = single_root ? size - 1 : size;
    for (int pivot = 1; pivot < stop; pivot++) {
        typename A::Sum sum = A::empty();
        for (int head = pivot + 1 + threadIdx.x % 32; head < size; head += 32) A::add(sum, matrix[head * size + pivot]);
        sum = sum_over<A>(sum, 32);
        if (!single_root) A::add(sum, matrix[pivot]);
        T degree = A::finish(sum);
        if (!(1e-280 < A::value(degree) && A::value(degree) < 1e280)) return not_a_number();
        log_partition += log(A::value(degree));
        T inverse = A::over(A::one(), degree);
        FOR_THREADS(k, size) {
            pivot_row[k] = k == pivot ? inverse : A::times(matrix[pivot * size + k], inverse);
            pivot_column[k] = matrix[k * size + pivot];
        }
        __syncthreads();
        for (int k = threadIdx.x % 32; k < size; k += 32) {
            T from_pivot = pivot_row[k];
#pragma unroll 4
            for (int row = threadIdx.x / 32; row < size; row += blockDim.x / 32) {
                typename A::Sum moved = A::empty();
                if (k != pivot) A::add(moved, matrix[row * size + k]);
                A::add(moved, A::times(pivot_column[row], from_pivot));
                matrix[row * size + k] = row == pivot ? from_pivot : A::finish(moved);
            }
        }
        __syncthreads();
    }
    if (single_root) {
        double root = A::value(matrix[stop]);
        if (!(1e-280 < root && root < 1e280)) return not_a_number();
        log_partition += log(root);
    }
    return log_partition;
}

// Fill gains[head, modifier] = d log Z / d weight from the swept matrix; the one subtraction, whose error is bounded.
template <class A>
__device__ Errors spanning_gains(
    const typename A::T* weights, int size, bool single_root, const typename A::T* matrix, typename A::T* gains
) {
    typedef typename A::T T;
    int last = size - 1;
    double absolute = 0.0, relative = 0.0;
    T scale = A::zero();
    if (single_root) scale = A::over(A::one(), matrix[last]);
    FOR_THREADS(cell, size * size) {
        int head = cell / size, modifier = cell % size;
        T gain = A::zero(), positive = A::zero();
        bool subtracted = false;
        if (modifier == 0 || head == modifier) {
        } else if (!single_root) {
            gain = positive = matrix[modifier * size + modifier];
            subtracted = head > 0;
            if (subtracted) gain = A::minus(positive, matrix[modifier * size + head]);
        } else if (modifier == last) {
            gain = head == 0 ? scale : A::times(matrix[head], scale);
        } else {
            const T* row = matrix + modifier * size;
            T leaving = A::times(row[last], scale), back = A::times(leaving, matrix[modifier]);
            subtracted = head > 0;
            if (head == 0)
                gain = leaving;
            else if (head == last)
                gain = A::minus(positive = row[modifier], back);
            else {
                positive = A::minus(row[modifier], A::minus(A::zero(), A::times(leaving, matrix[head])));
                gain = A::minus(positive, A::minus(row[head], A::minus(A::zero(), back)));
            }
        }
        gains[cell] = gain;
        double weight = A::value(weights[cell]);
        if (subtracted) {
            absolute = larger(absolute, weight * A::value(positive));
            double value = A::value(gain);
            if (weight > 0.0) relative = larger(relative, value > 0.0 ? A::value(positive) / value : infinity());
        }
    }
    absolute = over_block<larger>(absolute);
    relative = over_block<larger>(relative);
    return Errors{absolute * size * 2.3e-16, relative * size * 2.3e-16};
}

// A number of log_matrix_tree.py: how often it has an arc from the root that is infinitely light, and its logarithm.
struct Ordered {
    double order;
    Pair log;
};

struct OrderedSum {
    typedef Ordered T;
    typedef Ordered Sum;
    static __device__ Sum empty() { return Ordered{0.0, {-infinity(), 0.0}}; }
    static __device__ void add(Sum& a, T b) { merge(a, b); }
    static __device__ void merge(Sum& a, Sum b) {  // of two that differ in order the lower one counts
        if (b.log.value == -infinity() || (a.order < b.order && a.log.value > -infinity())) return;
        if (a.log.value == -infinity() || b.order < a.order) {
            a = b;
            return;
        }
        double top = fmax(a.log.value, b.log.value), share = exp(fmin(a.log.value, b.log.value) - top);
        double high = a.log.value >= b.log.value ? a.log.slope : b.log.slope;
        double low = a.log.value >= b.log.value ? b.log.slope : a.log.slope;
        a.log = Pair{top + log1p(share), (high + share * low) / (1.0 + share)};
    }
    static __device__ Sum exchanged(Sum a, int offset) {
        return Ordered{shuffle(a.order, offset), {shuffle(a.log.value, offset), shuffle(a.log.slope, offset)}};
    }
};

__device__ inline Ordered times(Ordered a, Ordered b) {
    return Ordered{a.order + b.order, {a.log.value + b.log.value, a.log.slope + b.log.slope}};
}

// Take `pivot` out of the words low..high-1 that remain, and return its pivot weight (-inf: no head is left).
__device__ inline Ordered eliminate(Ordered* matrix, int size, int pivot, int low, int high) {
    Ordered degree = OrderedSum::empty();
    for (int head = low + threadIdx.x % 32; head < high; head += 32)
        if (head != pivot) OrderedSum::add(degree, matrix[head * size + pivot]);
    degree = sum_over<OrderedSum>(degree, 32);
    OrderedSum::add(degree, matrix[pivot]);
    __syncthreads();
    if (degree.log.value == -infinity()) return degree;
    Ordered inverse{-degree.order, {-degree.log.value, -degree.log.slope}};
    FOR_THREADS(step, high - low + 1) {
        int head = step == 0 ? 0 : low + step - 1;
        if (head != pivot) matrix[head * size + pivot] = times(matrix[head * size + pivot], inverse);
    }
    __syncthreads();
    FOR_THREADS(cell, (high - low + 1) * size) {
        int step = cell / size, k = cell % size, head = step == 0 ? 0 : low + step - 1;
        if (k == 0 || k == pivot || k == head || head == pivot) continue;
        Ordered share = matrix[head * size + pivot], on = matrix[pivot * size + k];
        if (share.log.value > -infinity() && on.log.value > -infinity())
            OrderedSum::add(matrix[head * size + k], times(share, on));
    }
    __syncthreads();
    return degree;
}

__device__ inline int walk_depth(int size) {
    int depth = 2;
    while ((1 << (depth - 2)) < size) depth++;
    return depth;
}

// Fill gains[head, modifier] with the logarithms of d log Z / d weight, without subtraction; return that of Z.
__device__ inline Pair log_spanning_gains(const Pair* weights, int size, bool single_root, Ordered* levels, Pair* gains) {
    const int deepest = 24;
    Ordered pivots[deepest];  // product of the pivots on the way to each level
    int stack[2 * deepest + 2][5];  // level, words still in (low..high-1), and words to take out first
    double wanted = single_root ? 1.0 : 0.0;
    Pair none{-infinity(), 0.0}, partition = none;
    FOR_THREADS(cell, size * size) {
        int head = cell / size, modifier = cell % size;
        levels[cell] = Ordered{single_root && head == 0 ? 1.0 : 0.0, head != modifier ? weights[cell] : none};
        gains[cell] = none;
    }
    __syncthreads();
    pivots[0] = Ordered{0.0, {0.0, 0.0}};
    stack[0][0] = 0, stack[0][1] = 1, stack[0][2] = size, stack[0][3] = 1, stack[0][4] = 1;
    for (int top = 1; top > 0;) {
        top--;
        int level = stack[top][0], low = stack[top][1], high = stack[top][2];
        int out_low = stack[top][3], out_high = stack[top][4];
        Ordered* matrix = levels + (Int)level * size * size;
        if (level > 0) {
            FOR_THREADS(cell, size * size) matrix[cell] = matrix[cell - size * size];
            __syncthreads();
            pivots[level] = pivots[level - 1];
            int first = low < out_low ? low : out_low, end = high > out_high ? high : out_high;
            for (int step = 0; step < out_high - out_low; step++) {  // outermost first: what remains stays a range
                int pivot = out_low >= high ? out_high - 1 - step : out_low + step;
                Ordered degree = eliminate(matrix, size, pivot, first, end);
                if (degree.log.value == -infinity()) return none;
                if (out_low >= high) end--;
                else first++;
                pivots[level] = times(pivots[level], degree);
            }
        }
        if (high - low > 1) {
            int middle = (low + high) / 2;
            stack[top][0] = stack[top + 1][0] = level + 1;
            stack[top][1] = stack[top + 1][3] = low;
            stack[top][2] = stack[top + 1][4] = middle;
            stack[top][3] = stack[top + 1][1] = middle;
            stack[top][4] = stack[top + 1][2] = high;
            top += 2;
            continue;
        }
        Ordered root = times(pivots[level], matrix[low]);
        if (root.order != wanted || root.log.value == -infinity()) return none;
        partition = root.log;
        FOR_THREADS(head, size) {
            Ordered gain = head == 0 ? pivots[level] : times(pivots[level], matrix[head]);
            bool counts = head == 0 ? gain.order == 0.0 : head != low && gain.order == wanted;
            if (counts) gains[head * size + low] = LogDual::over(gain.log, partition);
        }
        __syncthreads();
    }
    return partition;
}
