// The arithmetics that dynamic programs run in: each is sums and products of its own numbers.
#pragma once
#include "block.cuh"

// A number and its derivative along a direction; in logarithms, both of the logarithm.
struct alignas(16) Pair {  // loaded and stored at once
    double value, slope;
};

// Real numbers.
struct Real {
    typedef double T;
    typedef double Sum;
    static __device__ T zero() { return 0.0; }
    static __device__ T one() { return 1.0; }
    static __device__ Sum empty() { return 0.0; }
    static __device__ T times(T a, T b) { return a * b; }
    static __device__ T over(T a, T b) { return a / b; }
    static __device__ T minus(T a, T b) { return a - b; }
    static __device__ void add(Sum& sum, T term) { sum += term; }
    static __device__ void merge(Sum& sum, Sum other) { sum += other; }
    static __device__ Sum exchanged(Sum sum, int offset) { return shuffle(sum, offset); }
    static __device__ T finish(Sum sum) { return sum; }
    static __device__ T weight(double logit, double direction) { return exp(logit); }
    static __device__ T with_change(double weight, double change) { return weight; }
    static __device__ T scaled(T a, double scale) { return a * scale; }
    static __device__ double value(T a) { return a; }
    static __device__ double log_value(T a) { return log(a); }
    // What is asked for of an arc, from its weight and its gain over Z: the marginal.
    static __device__ double answer(T weight, T gain) { return weight * gain; }
};

// Real numbers with derivatives.
struct Dual {
    typedef Pair T;
    typedef Pair Sum;
    static __device__ T zero() { return T{0.0, 0.0}; }
    static __device__ T one() { return T{1.0, 0.0}; }
    static __device__ Sum empty() { return zero(); }
    static __device__ T times(T a, T b) { return T{a.value * b.value, a.slope * b.value + a.value * b.slope}; }
    static __device__ T over(T a, T b) {
        double value = a.value / b.value;
        return T{value, (a.slope - value * b.slope) / b.value};
    }
    static __device__ T minus(T a, T b) { return T{a.value - b.value, a.slope - b.slope}; }
    static __device__ void add(Sum& sum, T term) {
        sum.value += term.value;
        sum.slope += term.slope;
    }
    static __device__ void merge(Sum& sum, Sum other) { add(sum, other); }
    static __device__ Sum exchanged(Sum sum, int offset) {
        return Sum{shuffle(sum.value, offset), shuffle(sum.slope, offset)};
    }
    static __device__ T finish(Sum sum) { return sum; }
    static __device__ T weight(double logit, double direction) {
        double weight = exp(logit);
        return T{weight, weight * direction};
    }
    static __device__ T with_change(double weight, double change) { return T{weight, change}; }
    static __device__ T scaled(T a, double scale) { return T{a.value * scale, a.slope * scale}; }
    static __device__ double value(T a) { return a.value; }
    static __device__ double log_value(T a) { return log(a.value); }
    // The derivative of the marginal.
    static __device__ double answer(T weight, T gain) { return weight.slope * gain.value + weight.value * gain.slope; }
};

// Logarithms.
struct Log {
    typedef double T;
    struct Sum {  // of exp(top) * total
        double top, total;
    };
    static __device__ T zero() { return -infinity(); }
    static __device__ T one() { return 0.0; }
    static __device__ Sum empty() { return Sum{-infinity(), 0.0}; }
    static __device__ T times(T a, T b) { return a + b; }
    static __device__ T over(T a, T b) { return a - b; }
    static __device__ void add(Sum& sum, T term) { merge(sum, Sum{term, term > -infinity() ? 1.0 : 0.0}); }
    static __device__ void merge(Sum& sum, Sum other) {
        if (other.total == 0.0) return;
        if (sum.total == 0.0) {
            sum = other;
            return;
        }
        double top = fmax(sum.top, other.top);
        sum.total = sum.total * exp(sum.top - top) + other.total * exp(other.top - top);
        sum.top = top;
    }
    static __device__ Sum exchanged(Sum sum, int offset) {
        return Sum{shuffle(sum.top, offset), shuffle(sum.total, offset)};
    }
    static __device__ T finish(Sum sum) { return sum.total == 0.0 ? -infinity() : sum.top + log(sum.total); }
    static __device__ T weight(double logit, double direction) { return logit; }
    static __device__ double value(T a) { return a; }
    static __device__ double log_value(T a) { return a; }
    static __device__ double answer(T weight, T gain) { return exp(weight + gain); }
};

// Logarithms with derivatives: that of a sum is the average of its terms' derivatives, weighted by their shares.
struct LogDual {
    typedef Pair T;
    struct Sum {
        double top, total, slope;
    };
    static __device__ T zero() { return T{-infinity(), 0.0}; }
    static __device__ T one() { return T{0.0, 0.0}; }
    static __device__ Sum empty() { return Sum{-infinity(), 0.0, 0.0}; }
    static __device__ T times(T a, T b) { return T{a.value + b.value, a.slope + b.slope}; }
    static __device__ T over(T a, T b) { return T{a.value - b.value, a.slope - b.slope}; }
    static __device__ void add(Sum& sum, T term) {
        if (term.value > -infinity()) merge(sum, Sum{term.value, 1.0, term.slope});
    }
    static __device__ void merge(Sum& sum, Sum other) {
        if (other.total == 0.0) return;
        if (sum.total == 0.0) {
            sum = other;
            return;
        }
        double top = fmax(sum.top, other.top), own = exp(sum.top - top), others = exp(other.top - top);
        sum.total = sum.total * own + other.total * others;
        sum.slope = sum.slope * own + other.slope * others;
        sum.top = top;
    }
    static __device__ Sum exchanged(Sum sum, int offset) {
        return Sum{shuffle(sum.top, offset), shuffle(sum.total, offset), shuffle(sum.slope, offset)};
    }
    static __device__ T finish(Sum sum) {
        return sum.total == 0.0 ? zero() : T{sum.top + log(sum.total), sum.slope / sum.total};
    }
    static __device__ T weight(double logit, double direction) { return T{logit, direction}; }
    static __device__ double value(T a) { return a.value; }
    static __device__ double log_value(T a) { return a.value; }
    static __device__ double answer(T weight, T gain) {
        double marginal = exp(weight.value + gain.value);
        return marginal > 0.0 ? marginal * (weight.slope + gain.slope) : 0.0;
    }
};

// The same numbers, when marginals are asked for rather than their derivatives.
struct LogMarginal : LogDual {
    static __device__ double answer(T weight, T gain) { return exp(weight.value + gain.value); }
};

// Scores, of which the best one counts.
struct Best {
    typedef double T;
    typedef double Sum;
    static __device__ T zero() { return -infinity(); }
    static __device__ T one() { return 0.0; }
    static __device__ Sum empty() { return -infinity(); }
    static __device__ T times(T a, T b) { return a + b; }
    static __device__ void add(Sum& sum, T term) { sum = fmax(sum, term); }
    static __device__ void merge(Sum& sum, Sum other) { sum = fmax(sum, other); }
    static __device__ Sum exchanged(Sum sum, int offset) { return shuffle(sum, offset); }
    static __device__ T finish(Sum sum) { return sum; }
};

// Which algebra goes with numbers: real ones, or those with derivatives.
template <class T>
struct AlgebraOf {
    typedef Dual A;
};
template <>
struct AlgebraOf<double> {
    typedef Real A;
};
