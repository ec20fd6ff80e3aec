"""Language: how each is detected, split into sentences and words, and compared.

A language is an ISO 639-1 code. An empty code stands for English, so that chunks
stored before languages were detected keep their meaning. Import from the modules: this
one imports none of them, because some load native libraries.
"""
