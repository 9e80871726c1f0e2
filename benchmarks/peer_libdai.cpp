// Parallel belief propagation on a graph of pairs by libDAI: compiled and run by benchmarks/peer_graphs.py.
//
//     peer_libdai GRAPH ON LEAST
//
// GRAPH: three 64-bit integers (variables, couplings, iterations), then pairs (couplings, 2) of such integers, and
// doubles: fields (variables, 2) and couplings (couplings, 2, 2), log-potentials. ON: doubles, the probability of each
// variable's second state. Prints CPU seconds per run, run as often as takes LEAST seconds; building is not counted.

#include <dai/bp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

template <typename T>
std::vector<T> read(std::FILE *file, std::size_t count) {
    std::vector<T> values(count);
    if (std::fread(&values[0], sizeof(T), count, file) != count) std::exit(1);
    return values;
}

int main(int, char **arguments) {
    std::FILE *file = std::fopen(arguments[1], "rb");
    const std::vector<long> sizes = read<long>(file, 3);
    const std::size_t variables = sizes[0], couplings = sizes[1];
    const std::vector<long> pairs = read<long>(file, 2 * couplings);
    const std::vector<double> fields = read<double>(file, 2 * variables), tables = read<double>(file, 4 * couplings);

    std::vector<dai::Factor> factors;
    for (std::size_t i = 0; i < variables; ++i) {
        dai::Factor field(dai::Var(i, 2));
        for (std::size_t state = 0; state < 2; ++state) field.set(state, std::exp(fields[2 * i + state]));
        factors.push_back(field);
    }
    for (std::size_t i = 0; i < couplings; ++i) {
        const dai::Var one(pairs[2 * i], 2), other(pairs[2 * i + 1], 2);
        dai::Factor table(dai::VarSet(one, other));
        for (std::size_t state = 0; state < 4; ++state) {
            // libDAI's first variable is the one of the smaller label, and its state runs fastest.
            const std::size_t smaller = state % 2, larger = state / 2;
            const std::size_t entry = one < other ? 2 * smaller + larger : 2 * larger + smaller;
            table.set(state, std::exp(tables[4 * i + entry]));
        }
        factors.push_back(table);
    }
    dai::PropertySet options;
    options.set("updates", std::string("PARALL"));
    options.set("logdomain", false);
    options.set("inference", std::string("SUMPROD"));
    options.set("tol", dai::Real(0));
    options.set("maxiter", std::size_t(sizes[2]));
    options.set("verbose", std::size_t(0));
    dai::BP bp(dai::FactorGraph(factors), options);

    std::vector<double> on(variables);
    const double least = std::atof(arguments[3]);
    const std::clock_t began = std::clock();
    std::size_t runs = 0;
    double seconds;
    do {
        bp.init();
        bp.run();
        for (std::size_t i = 0; i < variables; ++i) on[i] = bp.beliefV(i)[1];
        seconds = double(std::clock() - began) / CLOCKS_PER_SEC;
        ++runs;
    } while (seconds < least);
    std::FILE *result = std::fopen(arguments[2], "wb");
    std::fwrite(&on[0], sizeof(double), variables, result);
    std::fclose(result);
    std::printf("%.9g\n", seconds / runs);
}
