"""Every error this project raises, in one tree.

EltLlmError                                  code; what happened, the value, the cure
├── ConfigError                 CFG001       exit 78: fix the file and start again
│   ├── UnknownStrategyError    CFG002
│   ├── MissingExtraError       CFG003
│   ├── UnknownProfileError     CFG004
│   ├── InvalidNameError        CFG005
│   ├── NameTakenError          CFG006
│   ├── MissingModelError       CFG007
│   └── UnknownModelsError      CFG008
├── UsageError                  USE001       exit 64: the call contradicts itself
├── StoreError                  STO001       exit 1
│   ├── CollectionNotFoundError STO002       exit 65
│   ├── CollectionMismatchError STO003       exit 78
│   ├── StoreLockedError        STO004       exit 75: another process writes
│   ├── StoreWriteError         STO005       exit 73: disk full, read-only folder
│   ├── GenerationError         STO006       a derived index is damaged
│   ├── TruthError              STO007       exit 78: damaged, or another schema
│   └── NoDataError             STO008       exit 65: a data root that is not there
├── IngestError                 ING001       exit 65: one document; others go on
│   ├── LoadError               ING002
│   ├── EmbedError              ING003
│   └── NothingTakenError       ING004       not one of them all
├── QueryError                  QRY001       exit 1
│   └── AbandonedError          QRY002       nobody waits for the answer
├── ModelError                  MOD001       exit 69: the model server
│   ├── ModelUnavailableError   MOD002
│   ├── ModelMissingError       MOD003
│   ├── ModelTimeoutError       MOD004
│   ├── PromptTruncatedError    MOD005
│   ├── OutOfTimeError          MOD006
│   ├── EndlessAnswerError      MOD007
│   └── SilentServerError       MOD008
├── PortTakenError              API001       exit 69: another program listens there
└── RequestError                API002       HTTP only: not as the schema asks
    ├── ForeignHostError        API003
    ├── TokenNeededError        API004
    ├── ForeignSiteError        API005
    ├── NothingThereError       API006
    ├── MethodError             API007
    ├── TooLargeError           API008
    ├── BusyError               API009
    └── TooManyGuessesError     API010

A message is one or two sentences: what happened with the value, then the cure.
What is not an error but made the result poorer is a `Degradation` in the result.
"""

from elt_llm_core.errors.base import EltLlmError, suggest
from elt_llm_core.errors.configuration import (
    ConfigError,
    InvalidNameError,
    MissingExtraError,
    MissingModelError,
    NameTakenError,
    UnknownModelsError,
    UnknownProfileError,
    UnknownStrategyError,
    installs,
)
from elt_llm_core.errors.models import (
    EndlessAnswerError,
    ModelError,
    ModelMissingError,
    ModelTimeoutError,
    ModelUnavailableError,
    OutOfTimeError,
    PromptTruncatedError,
    SilentServerError,
)
from elt_llm_core.errors.requests import (
    BusyError,
    ForeignHostError,
    ForeignSiteError,
    MethodError,
    NothingThereError,
    RequestError,
    TokenNeededError,
    TooLargeError,
    TooManyGuessesError,
)
from elt_llm_core.errors.stores import (
    CollectionMismatchError,
    CollectionNotFoundError,
    GenerationError,
    NoDataError,
    StoreError,
    StoreLockedError,
    StoreWriteError,
    TruthError,
)
from elt_llm_core.errors.work import (
    AbandonedError,
    EmbedError,
    IngestError,
    LoadError,
    NothingTakenError,
    PortTakenError,
    QueryError,
    UsageError,
)

__all__ = [
    "AbandonedError",
    "BusyError",
    "CollectionMismatchError",
    "CollectionNotFoundError",
    "ConfigError",
    "EltLlmError",
    "EmbedError",
    "EndlessAnswerError",
    "ForeignHostError",
    "ForeignSiteError",
    "GenerationError",
    "IngestError",
    "InvalidNameError",
    "LoadError",
    "MethodError",
    "MissingExtraError",
    "MissingModelError",
    "ModelError",
    "ModelMissingError",
    "ModelTimeoutError",
    "ModelUnavailableError",
    "NameTakenError",
    "NoDataError",
    "NothingTakenError",
    "NothingThereError",
    "OutOfTimeError",
    "PortTakenError",
    "PromptTruncatedError",
    "QueryError",
    "RequestError",
    "SilentServerError",
    "StoreError",
    "StoreLockedError",
    "StoreWriteError",
    "TokenNeededError",
    "TooLargeError",
    "TooManyGuessesError",
    "TruthError",
    "UnknownModelsError",
    "UnknownProfileError",
    "UnknownStrategyError",
    "UsageError",
    "installs",
    "suggest",
]
