// Factors that allow trees whose arcs may cross: the twin of treebp/kernels/spanning_group.py.
#include "matrix_tree.cuh"
#include "tree_factors.cuh"

template <bool SHARED>
struct Spanning {
    static const int real_matrices = 4;
    template <class T>
    static __device__ bool real_sums(Tree tree, const T* weights, double lightest, T* rest, T* sums, double* log_partition) {
        typedef typename AlgebraOf<T>::A A;
        T *matrix = SHARED ? (T*)shared_memory : rest, *lines = matrix + tree.size * tree.size;
        double log_z = sweep<A>(weights, tree.size, tree.single_root, matrix, lines);
        if (log_z != log_z) return false;
        *log_partition = log_z;
        Errors errors = spanning_gains<A>(weights, tree.size, tree.single_root, matrix, sums);
        __syncthreads();
        return errors.relative < 1e-10;  // derivatives square the condition
    }
    static __device__ Pair log_sums(Tree tree, const Pair* weights, double* rest, Pair* sums) {
        return log_spanning_gains(weights, tree.size, tree.single_root, (Ordered*)rest, sums);
    }
};

TREE_FACTORS(Spanning)
