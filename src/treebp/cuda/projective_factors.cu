// Factors that allow projective trees: the twin of treebp/kernels/projective_group.py.
#include "eisner.cuh"
#include "tree_factors.cuh"

// Whether no gain is so small that what underflowed could be a part of it.
template <class T>
__device__ bool none_faint(const T* weights, const T* gains, int size, double partition) { return true; }
template <>
__device__ bool none_faint(const double* weights, const double* gains, int size, double partition) {
    double completion = 0.0, bad = 0.0;
    FOR_THREADS(modifier, size) {
        double total = 0.0;
        for (int head = 0; head < size; head++) total += weights[head * size + modifier];
        if (modifier > 0) completion += log(total);
    }
    completion = over_block<add>(completion) + 3.0 * log((double)size) - 744.0 + 25.0;
    double faint = fmax(exp(completion), 1e-290);
    FOR_CELLS(head, modifier, size) {
        int cell = head * size + modifier;
        if (weights[cell] > 0.0 && !(gains[cell] * partition > faint)) bad = 1.0;
    }
    return over_block<larger>(bad) == 0.0 && completion <= 0.0;
}

template <bool SHARED>
struct Projective {
    static const int real_matrices = CHARTS + 2;
    template <class T>
    static __device__ bool real_sums(Tree tree, const T* weights, double lightest, T* rest, T* sums, double* log_partition) {
        typedef typename AlgebraOf<T>::A A;
        Charts<A, SHARED ? CHARTS : 0> charts(rest, tree.size);
        T z = inside<A>(weights, tree.size, tree.single_root, charts);
        double partition = A::value(z);
        if (!(1e-290 < partition && partition < 1e250)) return false;
        *log_partition = log(partition);
        outside<A>(weights, tree.size, tree.single_root, charts, z, sums);
        return lightest >= -600.0 || none_faint<T>(weights, sums, tree.size, partition);
    }
    static __device__ Pair log_sums(Tree tree, const Pair* weights, double* rest, Pair* sums) {
        Charts<LogDual, 0> charts((Pair*)rest, tree.size);
        Pair z = inside<LogDual>(weights, tree.size, tree.single_root, charts);
        if (z.value > -infinity()) outside<LogDual>(weights, tree.size, tree.single_root, charts, z, sums);
        return z;
    }
};

TREE_FACTORS(Projective)
