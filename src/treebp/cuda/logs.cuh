// Logarithms of sums, and messages along edges: log-odds to and from binary variables, else a log-probability a state.
#pragma once
#include "algebra.cuh"

__device__ inline double softplus(double x) { return fmax(x, 0.0) + log1p(exp(-fabs(x))); }  // log(1 + e^x)
__device__ inline double log_off(double odds) { return -softplus(odds); }
__device__ inline double log_on(double odds) { return -softplus(-odds); }
__device__ inline double sigmoid(double odds) { return exp(log_on(odds)); }
__device__ inline bool is_finite(double x) { return fabs(x) < infinity(); }

__device__ inline double log_add(double a, double b) {
    double top = fmax(a, b), low = fmin(a, b);
    return low == -infinity() ? top : top + log1p(exp(low - top));
}

// What an edge's message says of a state; a weight rather than a probability where the variable is binary.
__device__ inline double weight_of_state(const double* message, int states, int state) {
    if (states != 2) return message[state];
    double odds = message[0];
    if (odds == infinity()) return state == 1 ? 0.0 : -infinity();
    return state == 1 ? odds : 0.0;
}
