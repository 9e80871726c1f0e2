# Both targets do all set-up on a fresh machine: a virtual environment in .venv, the package in it, then the job.
PYTHON ?= python3
BIN := .venv/bin
# What is tested besides the core; `make test EXTRAS=` leaves heavy packages out and skips their tests.
EXTRAS ?= torch serve spacy
comma := ,
space := $(subst ,, )

.PHONY: demo test bounds english

demo: .venv/installed
	$(BIN)/treebp demo --force

test: .venv/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest

# Kernels check no bounds; compiled anew so that they do, in a place of their own, they must pass the same tests (but
# those of the place itself, and those whose time goes into arithmetic of high precision).
bounds: .venv/installed
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.venv/checked-kernels $(BIN)/pytest \
	    tests/kernels tests/hypergraphs tests/trees tests/bp tests/objectives tests/parsing \
	    --ignore tests/kernels/test_cache.py --deselect tests/bp/test_strong_pairs.py::test_twenty_five_words

# The English model, from the files of UD_English-EWT in a folder: make english EWT=UD_English-EWT
english: .venv/installed
	$(BIN)/python -m pip install --quiet spacy-lookups-data==1.0.5
	$(BIN)/python benchmarks/english_clusters.py english.clusters
	$(BIN)/treebp train $(EWT)/en_ewt-ud-train.conllu --dev $(EWT)/en_ewt-ud-dev.conllu -o en.model --pipeline \
	    --word-clusters english.clusters --set templates=words,tags,coarse,between,lemmas,morphology,clusters \
	    --size 12 --seed 1 --epochs 4 --set trainings=8 --force
	mv en.model src/treebp/models/en.model
	rm english.clusters

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[$(subst $(space),$(comma),$(strip dev $(EXTRAS)))]" \
	    $(addsuffix ==2.13.0,$(filter torch,$(EXTRAS)))
	touch $@
