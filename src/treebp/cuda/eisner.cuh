// Inside-outside over projective dependency trees (Eisner, 1996) in any algebra: the twin of treebp/kernels/eisner.py
// and log_eisner.py, whose charts these are. All cells of one width are filled at once, each by a few lanes.
#pragma once
#include "algebra.cuh"

enum Chart { RIGHT, LEFT, ARC_RIGHT, ARC_LEFT, OUT_RIGHT, OUT_LEFT, OUT_PAIR, PAIR, CHARTS };

// The items of a chart that begin or end at a position, by their other end.
template <class T>
struct Line {
    T* base;
    int stride;
    __device__ T& operator[](int k) const { return base[k * stride]; }
};

// In global memory a chart is a symmetric matrix, so that items of either kind are neighbours. The first PACKED charts
// are in shared memory, where neighbours are no faster, and two share a matrix: the even ones have the upper triangle,
// the odd ones the lower; on the diagonal, RIGHT and LEFT are one alike. Rows have an odd length, so that columns are in
// different banks.
template <class A, int PACKED>
struct Charts {
    typedef typename A::T T;
    T* cells;  // in global memory
    int size, length;
    __device__ Charts(T* cells, int size) : cells(cells), size(size), length(size | 1) {}
    __device__ T* packed(int chart) const { return (T*)shared_memory + chart / 2 * size * length; }
    __device__ Line<T> beginning(int chart, int i) const {
        if (chart >= PACKED) return Line<T>{cells + ((chart - PACKED) * size + i) * size, 1};
        return chart % 2 ? Line<T>{packed(chart) + i, length} : Line<T>{packed(chart) + i * length, 1};
    }
    __device__ Line<T> ending(int chart, int j) const {
        if (chart >= PACKED) return Line<T>{cells + ((chart - PACKED) * size + j) * size, 1};
        return chart % 2 ? Line<T>{packed(chart) + j * length, 1} : Line<T>{packed(chart) + j, length};
    }
    __device__ void store(int chart, int i, int j, T value) const {
        beginning(chart, i)[j] = value;
        if (chart >= PACKED) ending(chart, j)[i] = value;
    }
};

// Fill the inside charts for positions 0..size-1, given weights[head, modifier]; return the partition.
template <class A, int PACKED>
__device__ typename A::T inside(
    const typename A::T* weights, int size, bool single_root, const Charts<A, PACKED>& charts
) {
    typedef typename A::T T;
    typedef typename A::Sum Sum;
    int first = single_root ? 1 : 0, last = size - 1;
    for (int j = first + threadIdx.x; j < size; j += blockDim.x) {
        charts.store(RIGHT, j, j, A::one());
        charts.store(LEFT, j, j, A::one());
    }
    __syncthreads();
    for (int width = 1; width <= last - first; width++) {
        int cells = last - first + 1 - width;
        Shares shares(cells, width);
        int lanes = shares.lanes, lane = shares.lane;
        for (int base = 0; base < cells; base += shares.at_once) {
            int cell = base + shares.own;
            bool active = cell < cells;
            int i = first + (active ? cell : 0), j = i + width, end = active ? j : i;
            T weight_right = weights[i * size + j], weight_left = weights[j * size + i];  // on their way meanwhile
            Sum sums[3] = {A::empty(), A::empty(), A::empty()};
            Sum &split = sums[0], &to_right = sums[1], &to_left = sums[2];
            Line<T> right_i = charts.beginning(RIGHT, i), left_j = charts.ending(LEFT, j);
            Line<T> arc_right_i = charts.beginning(ARC_RIGHT, i), right_j = charts.ending(RIGHT, j);
            Line<T> left_i = charts.beginning(LEFT, i), arc_left_j = charts.ending(ARC_LEFT, j);
#pragma unroll 4
            for (int k = i + 1 + lane; k < end; k += lanes) {
                A::add(split, A::times(right_i[k], left_j[k + 1]));
                A::add(to_right, A::times(arc_right_i[k], right_j[k]));
                A::add(to_left, A::times(left_i[k], arc_left_j[k]));
            }
            sum_over<A>(sums, lanes);
            if (active && lane == 0) {
                A::add(split, left_j[i + 1]);  // which meets the empty item at i
                T pair = A::finish(split);
                T rightward = A::times(pair, weight_right), leftward = A::times(pair, weight_left);
                A::add(to_right, rightward);
                A::add(to_left, leftward);
                charts.store(PAIR, i, j, pair);
                charts.store(ARC_RIGHT, i, j, rightward);
                charts.store(ARC_LEFT, i, j, leftward);
                charts.store(RIGHT, i, j, A::finish(to_right));
                charts.store(LEFT, i, j, A::finish(to_left));
            }
        }
        __syncthreads();
    }
    if (!single_root) return charts.beginning(RIGHT, 0)[last];
    Sum partition = A::empty();
    for (int k = 1 + threadIdx.x % 32; k < size; k += 32)
        A::add(partition, A::times(weights[k], A::times(charts.beginning(LEFT, 1)[k], charts.ending(RIGHT, last)[k])));
    return A::finish(sum_over<A>(partition, 32));
}

// After `inside`: fill gains[head, modifier] = d log Z / d weight.
template <class A, int PACKED>
__device__ void outside(
    const typename A::T* weights, int size, bool single_root, const Charts<A, PACKED>& charts, typename A::T z,
    typename A::T* gains
) {
    typedef typename A::T T;
    typedef typename A::Sum Sum;
    int first = single_root ? 1 : 0, last = size - 1;
    T inverse = A::over(A::one(), z);
    for (int width = last - first; width > 0; width--) {
        int cells = last - first + 1 - width, terms = cells - 1;
        Shares shares(cells, terms);
        int lanes = shares.lanes, lane = shares.lane;
        for (int base = 0; base < cells; base += shares.at_once) {
            int cell = base + shares.own;
            bool active = cell < cells;
            int i = first + (active ? cell : 0), j = i + width, before = active ? i : first, after = active ? j + 1 : size;
            T weight_right = weights[i * size + j], weight_left = weights[j * size + i];
            T pair = charts.beginning(PAIR, i)[j];
            Sum sums[4] = {A::empty(), A::empty(), A::empty(), A::empty()};
            Sum &right = sums[0], &left = sums[1], &arc_right = sums[2], &arc_left = sums[3];
            {
                Line<T> out_pair = charts.ending(OUT_PAIR, j), right_before = charts.ending(RIGHT, i > 0 ? i - 1 : 0);
                Line<T> out_left = charts.ending(OUT_LEFT, j), left_i = charts.ending(LEFT, i);
                Line<T> out_right = charts.ending(OUT_RIGHT, j), arc_right_i = charts.ending(ARC_RIGHT, i);
#pragma unroll 4
                for (int k = first + lane; k < before; k += lanes) {
                    A::add(left, A::times(out_pair[k], right_before[k]));
                    A::add(arc_left, A::times(out_left[k], left_i[k]));
                    A::add(right, A::times(out_right[k], arc_right_i[k]));
                }
            }
            {
                Line<T> out_pair = charts.beginning(OUT_PAIR, i);
                Line<T> left_after = charts.beginning(LEFT, j < last ? j + 1 : last);
                Line<T> out_right = charts.beginning(OUT_RIGHT, i), right_j = charts.beginning(RIGHT, j);
                Line<T> out_left = charts.beginning(OUT_LEFT, i), arc_left_j = charts.beginning(ARC_LEFT, j);
#pragma unroll 4
                for (int k = after + lane; k < size; k += lanes) {
                    A::add(right, A::times(out_pair[k], left_after[k]));
                    A::add(arc_right, A::times(out_right[k], right_j[k]));
                    A::add(left, A::times(out_left[k], arc_left_j[k]));
                }
            }
            sum_over<A>(sums, lanes);
            if (active && lane == 0) {
                if (single_root) {
                    if (j == last) A::add(right, A::times(weights[i], charts.beginning(LEFT, 1)[i]));
                    if (i == 1) A::add(left, A::times(weights[j], charts.ending(RIGHT, last)[j]));
                } else if (i == 0 && j == last) {
                    A::add(right, A::one());
                }
                A::merge(arc_right, right);
                A::merge(arc_left, left);
                T to_right = A::finish(arc_right), to_left = A::finish(arc_left);
                Sum share = A::empty();
                A::add(share, A::times(weight_right, to_right));
                A::add(share, A::times(weight_left, to_left));
                charts.store(OUT_RIGHT, i, j, A::finish(right));
                charts.store(OUT_LEFT, i, j, A::finish(left));
                charts.store(OUT_PAIR, i, j, A::finish(share));
                gains[i * size + j] = A::times(A::times(to_right, pair), inverse);
                gains[j * size + i] = A::times(A::times(to_left, pair), inverse);
            }
        }
        __syncthreads();
    }
    FOR_THREADS(k, size) {
        if (single_root && k > 0)
            gains[k] = A::times(A::times(charts.beginning(LEFT, 1)[k], charts.ending(RIGHT, last)[k]), inverse);
        gains[k * size + k] = A::zero();
        gains[k * size] = A::zero();
    }
    __syncthreads();
}
