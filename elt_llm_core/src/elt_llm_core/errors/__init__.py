"""All errors that this project raises, as one tree.

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
├── OutputFileError             USE002       exit 73: an output file
├── ExchangeError               EXC001       exit 65: not a glossary of that format
├── StoreError                  STO001       exit 1
│   ├── CollectionNotFoundError STO002       exit 65
│   ├── CollectionMismatchError STO003       exit 78
│   ├── StoreLockedError        STO004       exit 75: another process writes
│   ├── StoreWriteError         STO005       exit 73: disk full, read-only folder
│   ├── GenerationError         STO006       a derived index is damaged
│   ├── UnusableDatabaseError   STO007       exit 78: damaged, or another schema
│   ├── NoDataError             STO008       exit 65: no data root
│   ├── ConversationNotFoundError STO009     exit 65
│   ├── ForeignConversationError STO010      exit 65: another user's conversation
│   ├── TurnReplacedError       STO011       exit 75: changed while answering
│   ├── JobNotFoundError        STO012       exit 65
│   └── VersionNotFoundError    STO013       exit 65: no such report or summary
├── UnknownElementError         GRA001       exit 65: the model has no such element
├── ReviewError                 REV001       exit 65: reviews of products
│   ├── UnknownProductError     REV002
│   ├── UnknownItemError        REV003
│   ├── StaleReviewError        REV004       exit 75: a newer decision exists
│   ├── SheetError              REV005
│   └── EditedSheetError        REV006       exit 73: a sheet not imported yet
├── IngestError                 ING001       exit 65: one document; the rest continues
│   ├── LoadError               ING002
│   ├── EmbedError              ING003
│   └── NothingTakenError       ING004       every document failed
├── QueryError                  QRY001       exit 1
│   └── AbandonedError          QRY002       the client left
├── ModelError                  MOD001       exit 69: the model server
│   ├── ModelUnavailableError   MOD002
│   ├── ModelMissingError       MOD003
│   ├── ModelTimeoutError       MOD004
│   ├── PromptTruncatedError    MOD005
│   ├── OutOfTimeError          MOD006
│   ├── EndlessAnswerError      MOD007
│   ├── SilentServerError       MOD008
│   ├── ModelBusyError          MOD009
│   ├── RunnerDiedError         MOD010
│   ├── BrokenAnswerError       MOD011
│   ├── BudgetSpentError        MOD012
│   └── AnswerShapeError        MOD013
├── PortTakenError              API001       exit 69: the port is in use
└── RequestError                API002       HTTP only: invalid request
    ├── ForeignHostError        API003
    ├── TokenNeededError        API004
    ├── ForeignSiteError        API005
    ├── NothingThereError       API006
    ├── MethodError             API007
    ├── TooLargeError           API008
    ├── BusyError               API009
    ├── TooManyGuessesError     API010
    └── RevisionNeededError     API011

A message is one or two sentences: what happened, with the value, then how to fix it. If
the result is only degraded, it contains a `Degradation` instead.
"""

from elt_llm_core.errors.base_error import (
    EltLlmError,
    describe_yaml_error,
    installs,
    suggest,
    suggest_key,
)
from elt_llm_core.errors.call_errors import (
    ExchangeError,
    OutputFileError,
    PortTakenError,
    UnknownElementError,
    UsageError,
)
from elt_llm_core.errors.config_errors import (
    ConfigError,
    InvalidNameError,
    MissingExtraError,
    MissingModelError,
    NameTakenError,
    UnknownModelsError,
    UnknownProfileError,
    UnknownStrategyError,
)
from elt_llm_core.errors.document_errors import (
    AbandonedError,
    EmbedError,
    IngestError,
    LoadError,
    NothingTakenError,
    QueryError,
)
from elt_llm_core.errors.model_errors import (
    AnswerShapeError,
    BrokenAnswerError,
    BudgetSpentError,
    EndlessAnswerError,
    ModelBusyError,
    ModelError,
    ModelMissingError,
    ModelTimeoutError,
    ModelUnavailableError,
    OutOfTimeError,
    PromptTruncatedError,
    RunnerDiedError,
    SilentServerError,
)
from elt_llm_core.errors.request_errors import (
    BusyError,
    ForeignHostError,
    ForeignSiteError,
    MethodError,
    NothingThereError,
    RequestError,
    RevisionNeededError,
    TokenNeededError,
    TooLargeError,
    TooManyGuessesError,
)
from elt_llm_core.errors.review_errors import (
    EditedSheetError,
    ReviewError,
    SheetError,
    StaleReviewError,
    UnknownItemError,
    UnknownProductError,
)
from elt_llm_core.errors.store_errors import (
    DISK_FULL,
    CollectionMismatchError,
    CollectionNotFoundError,
    ConversationNotFoundError,
    ForeignConversationError,
    GenerationError,
    JobNotFoundError,
    NoDataError,
    StoreError,
    StoreLockedError,
    StoreWriteError,
    TurnReplacedError,
    UnusableDatabaseError,
    VersionNotFoundError,
)

__all__ = [
    "DISK_FULL",
    "AbandonedError",
    "AnswerShapeError",
    "BrokenAnswerError",
    "BudgetSpentError",
    "BusyError",
    "CollectionMismatchError",
    "CollectionNotFoundError",
    "ConfigError",
    "ConversationNotFoundError",
    "EditedSheetError",
    "EltLlmError",
    "EmbedError",
    "EndlessAnswerError",
    "ExchangeError",
    "ForeignConversationError",
    "ForeignHostError",
    "ForeignSiteError",
    "GenerationError",
    "IngestError",
    "InvalidNameError",
    "JobNotFoundError",
    "LoadError",
    "MethodError",
    "MissingExtraError",
    "MissingModelError",
    "ModelBusyError",
    "ModelError",
    "ModelMissingError",
    "ModelTimeoutError",
    "ModelUnavailableError",
    "NameTakenError",
    "NoDataError",
    "NothingTakenError",
    "NothingThereError",
    "OutOfTimeError",
    "OutputFileError",
    "PortTakenError",
    "PromptTruncatedError",
    "QueryError",
    "RequestError",
    "ReviewError",
    "RevisionNeededError",
    "RunnerDiedError",
    "SheetError",
    "SilentServerError",
    "StaleReviewError",
    "StoreError",
    "StoreLockedError",
    "StoreWriteError",
    "TokenNeededError",
    "TooLargeError",
    "TooManyGuessesError",
    "TurnReplacedError",
    "UnknownElementError",
    "UnknownItemError",
    "UnknownModelsError",
    "UnknownProductError",
    "UnknownProfileError",
    "UnknownStrategyError",
    "UnusableDatabaseError",
    "UsageError",
    "VersionNotFoundError",
    "describe_yaml_error",
    "installs",
    "suggest",
    "suggest_key",
]
