"""Holds exported notebooks to Jupyter's own rules, which tests/export cannot: it needs Python.

Run by hand, 2026-11-21, nbformat 5.11.1 and nbconvert 7.17.2, no complaint:

    python3 -m venv .venv && .venv/bin/pip install nbformat nbconvert
    attune export lessons/apple.ron --to ipynb -o apple.ipynb
    attune export tests/fixtures/notebook.ron --to ipynb -o notebook.ipynb
    .venv/bin/python tests/export/check_ipynb.py apple.ipynb notebook.ipynb
"""

import sys
import warnings

import nbformat
from nbconvert import HTMLExporter

warnings.simplefilter("error")  # such as ids that nbformat would have to mend

for path in sys.argv[1:]:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.nbformat_minor == 5, path
    # As nbformat writes it, so that a save in Jupyter is no change.
    with open(path, encoding="utf-8") as file:
        assert file.read().rstrip("\n") == nbformat.writes(notebook).rstrip("\n"), f"{path}: not as nbformat writes it"
    page, _ = HTMLExporter().from_notebook_node(notebook)
    with open(path.replace(".ipynb", ".nbconvert.html"), "w", encoding="utf-8") as file:
        file.write(page)
    pictures = sum(len(cell.get("attachments", {})) for cell in notebook.cells)
    print(f"{path}: {len(notebook.cells)} cells, {pictures} pictures, valid; {len(page)} bytes as HTML")
