"""Languages: detection, splitting into sentences and words, and comparison.

A language is an ISO 639-1 code. An empty code means English, so that chunks stored
before languages were detected keep their meaning. Import from the modules: this package
imports none of them, because some load native libraries.
"""
