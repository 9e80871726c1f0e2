// Batches of trees over dense scores (batch, width, width): what projective and other trees have in common.
#pragma once
#include "algebra.cuh"

struct DenseTrees {
    const double* scores;
    const double* direction;  // null for marginals
    const Int* lengths;
    Int batch, width;
    bool single_root;
    double* log_partition;  // null for products
    double* out;
    int* verdicts;
    int* refused;  // by real arithmetic
};

// The next piece of a sentence's own memory.
template <class T>
__device__ T* take(double*& place, Int count) {
    T* own = (T*)place;
    place += count * (Int)(sizeof(T) / sizeof(double));
    return own;
}

// Scores less each modifier's best one, as weights; return the sum of what was taken off. Judge the sentence.
template <class A>
__device__ double weigh(const DenseTrees& trees, Int b, int size, double* tops, typename A::T* weights, int* verdict) {
    const double* scores = trees.scores + b * trees.width * trees.width;
    const double* direction = trees.direction ? trees.direction + b * trees.width * trees.width : nullptr;
    double offset = 0.0, bad = 0.0;
    FOR_THREADS(modifier, size) {
        if (modifier == 0) continue;
        double top = -infinity();
#pragma unroll 8
        for (int head = 0; head < size; head++) {
            double score = scores[head * trees.width + modifier];
            if (head != modifier) {
                top = fmax(top, score);
                if (!(score == -infinity() || fabs(score) <= 1e300)) bad = 1.0;
            }
        }
        tops[modifier] = top;
        offset += top;
    }
    offset = over_block<add>(offset);
    bad = over_block<larger>(bad);
    *verdict = bad > 0.0 ? BAD_SCORE : offset == -infinity() ? NO_TREE : FINE;
    if (*verdict != FINE) return offset;
    FOR_CELLS(head, modifier, size) {
        Int place = head * trees.width + modifier;
        weights[head * size + modifier] = modifier == 0 || modifier == head
            ? A::zero()
            : A::weight(scores[place] - tops[modifier], direction ? direction[place] : 0.0);
    }
    __syncthreads();
    return offset;
}

// Whether nothing that matters to a partition can have been lost to underflow: see treebp/kernels/arc_weights.py.
template <class A>
__device__ bool nothing_lost(double log_partition, const typename A::T* weights, int size, double log_count) {
    double completion = 0.0;
    FOR_THREADS(modifier, size) {
        double total = 0.0;
#pragma unroll 8
        for (int head = 0; head < size; head++) total += A::value(weights[head * size + modifier]);
        if (modifier > 0) completion += log(total);
    }
    completion = over_block<add>(completion);
    return log_partition > fmin(completion, log_count) + 3.0 * log((double)size) - 680.0;
}

// A kernel over dense trees: how many threads a block may have, the way it goes, and the algebra.
#define DENSE_TREES(name, threads, way, algebra)                                                                  \
    extern "C" __global__ void __launch_bounds__(threads) name(                                                   \
        const double* scores, const double* direction, const Int* lengths, Int batch, Int width, Int single_root, \
        double* log_partition, double* out, int* verdicts, double* scratch, Int room                              \
    ) {                                                                                                           \
        DenseTrees trees{scores, direction,     lengths, batch,    width,                                         \
                         single_root != 0, log_partition, out,     verdicts, verdicts + batch};                   \
        way<algebra>(trees, scratch + blockIdx.x * room);                                                         \
    }

// Write the answers for one sentence, or what stands for them where there are none.
template <class A>
__device__ void write_out(
    const DenseTrees& trees, Int b, int size, int verdict, const typename A::T* weights, const typename A::T* gains
) {
    double* out = trees.out + b * trees.width * trees.width;
    FOR_CELLS(head, modifier, trees.width) {
        double answer = 0.0;
        if (verdict != FINE)
            answer = not_a_number();
        else if (head < size && modifier < size && modifier > 0 && modifier != head) {
            answer = A::answer(weights[head * size + modifier], gains[head * size + modifier]);
            if (!trees.direction) answer = fmax(answer, 0.0);  // rounding may go below
        }
        out[head * trees.width + modifier] = answer;
    }
}
