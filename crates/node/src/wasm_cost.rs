//! What V8 takes to compile a module of WebAssembly and to keep it, none of which V8 counts or interrupts.
//!
//! The baseline compiler of V8 (Liftoff), which is the only one for pages, goes through a function once. For an instruction it does as much as
//! that has operands and results, and where control branches, as much as there are locals and operands on the stack. So this is what is added up
//! here, by a parser that knows the height of the stack at each instruction. It takes V8 at most 16 bytes for each, as measured with Node 22,
//! 24 and 26.

use std::fmt;

use wasmparser::{
    BinaryReaderError, Catch, CompositeInnerType, FuncToValidate, FuncValidator, FuncValidatorAllocations,
    FunctionBody, ModuleArity, Operator, OperatorsReader, Parser, Payload, ValidPayload, Validator,
    ValidatorResources, WasmFeatures,
};

/// How many bytes V8 takes for a unit of work while it compiles.
const BYTES: u64 = 16;

/// What part of the memory limit compiling one function may take. Of 115 modules in packages of npm, the function that takes most takes 21.6
/// million units, of a debug build, which is a third of the usual limit.
const SHARE: u64 = 2;

/// How much work a byte of a function may be before its machine code counts apart.
const USUAL_WORK: u64 = 64;

/// How large the machine code for a unit of work may be.
const CODE_BYTES: u64 = 12;

/// What a module takes that has no functions, in bytes: tables of V8 in pages of their own.
const BYTES_OF_MODULE: u64 = 32 << 10;

/// A result of a call is stored twice.
const RESULT_WORK: u64 = 4;

/// How many memories a module may have: V8 reserves gigabytes of addresses for each.
const MAX_MEMORIES: u32 = 10;

/// How many entries the tables of a module may have together when it is instantiated.
const MAX_ENTRIES: u64 = 1 << 22;

const CUSTOM_SECTION: u8 = 0;
const FUNCTION_SECTION: u8 = 3;
const CODE_SECTION: u8 = 10;
const DATA_SECTION: u8 = 11;

/// Why a module is refused.
#[derive(Debug)]
pub enum Refusal {
    Invalid(BinaryReaderError),
    FunctionTooExpensive,
    TooLarge,
    TooManyMemories,
    TablesTooLarge,
    OwnSharedMemory,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(error) => write!(formatter, "{} @+{}", error.message(), error.offset()),
            Self::FunctionTooExpensive => formatter.write_str("a function is too expensive to compile"),
            Self::TooLarge => formatter.write_str("the module is too large"),
            Self::TooManyMemories => formatter.write_str("the module has too many memories"),
            Self::OwnSharedMemory => {
                formatter.write_str("the module defines shared memory and does not import it")
            }
            Self::TablesTooLarge => formatter.write_str("the module's tables are too large"),
        }
    }
}

impl From<BinaryReaderError> for Refusal {
    fn from(error: BinaryReaderError) -> Self {
        Self::Invalid(error)
    }
}

/// How many bytes a module takes at most, other than while it is compiled: its own, its tables of functions and types, and its machine code.
///
/// # Errors
///
/// A module that is invalid, or that takes too much of `memory_limit`, in bytes.
pub fn measure(module: &[u8], memory_limit: u64) -> Result<u64, Refusal> {
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let mut allocations = FuncValidatorAllocations::default();
    let mut bytes = module.len() as u64 + BYTES_OF_MODULE;
    let mut entries = 0_u64;
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let Some((id, range)) = payload.as_section() {
            bytes += bytes_of_a_byte(id) * (range.end - range.start);
        }
        match &payload {
            Payload::MemorySection(memories) if memories.count() > MAX_MEMORIES => {
                return Err(Refusal::TooManyMemories);
            }
            // Nobody would know of it, see crates/v8/shim/shared_memory.cc.
            Payload::MemorySection(memories) => {
                for memory in memories.clone() {
                    if memory?.shared {
                        return Err(Refusal::OwnSharedMemory);
                    }
                }
            }
            Payload::TableSection(tables) => {
                for table in tables.clone() {
                    entries = entries.saturating_add(table?.ty.initial);
                }
                if entries > MAX_ENTRIES {
                    return Err(Refusal::TablesTooLarge);
                }
            }
            _ => {}
        }
        if bytes > memory_limit {
            return Err(Refusal::TooLarge);
        }
        if let ValidPayload::Func(function, body) = validator.payload(&payload)? {
            let (work, used) = work_of(function, &body, allocations, memory_limit / SHARE / BYTES)?;
            allocations = used;
            bytes += work.long_code;
            bytes += CODE_BYTES * work.units.saturating_sub(USUAL_WORK * body.as_bytes().len() as u64);
        }
    }
    if bytes > memory_limit { Err(Refusal::TooLarge) } else { Ok(bytes) }
}

/// What V8 keeps for a byte of a section, as measured with Node 24.
fn bytes_of_a_byte(section: u8) -> u64 {
    match section {
        CUSTOM_SECTION | DATA_SECTION => 1,
        FUNCTION_SECTION => 128,
        CODE_SECTION => 8,
        _ => 24,
    }
}

/// What V8 has to do for a function.
struct Work {
    units: u64,
    /// The bytes of machine code of instructions that need much more of it than they have bytes.
    long_code: u64,
}

fn work_of(
    function: FuncToValidate<ValidatorResources>,
    body: &FunctionBody<'_>,
    allocations: FuncValidatorAllocations,
    max_work: u64,
) -> Result<(Work, FuncValidatorAllocations), Refusal> {
    let mut validator = function.into_validator(allocations);
    let mut reader = body.get_binary_reader();
    let start = body.range().start;
    validator.read_locals(&mut reader)?;
    let locals = u64::from(validator.len_locals());
    let mut work = locals;
    let mut long_code = 0;
    let mut operators = OperatorsReader::new(reader);
    while !operators.eof() {
        let (operator, offset) = operators.read_with_offset()?;
        let (taken, given) = operator.operator_arity(&validator).unwrap_or_default();
        // Where control branches, all that is there may have to be moved.
        let width = locals + u64::from(validator.operand_stack_height()) + u64::from(given);
        work += 1 + u64::from(taken) + u64::from(given);
        work += branches(&operator) * width + implied(&operator, u64::from(given), &validator);
        let opcode = usize::try_from(offset - start).ok().and_then(|at| body.as_bytes().get(at));
        long_code += opcode.copied().map_or(0, long_code_of);
        // Before the instruction is validated, which takes as long.
        if work > max_work {
            return Err(Refusal::FunctionTooExpensive);
        }
        validator.op(offset, &operator)?;
    }
    operators.finish()?;
    Ok((Work { units: work, long_code }, validator.into_allocations()))
}

/// How many bytes of machine code an instruction may have beside those that are counted for each of its bytes, by its first byte. Measured with
/// Node 24 for each instruction of numbers, vectors, memories, tables and calls.
fn long_code_of(opcode: u8) -> u64 {
    match opcode {
        // `loop`, and calls of known functions.
        0x03 | 0x10 | 0x12 => 100,
        // Exceptions, and calls through tables and references.
        0x06..=0x0a | 0x11 | 0x13..=0x15 | 0x18 | 0x19 | 0x1f => 200,
        // Elements of tables, the size of memories, references.
        0x25 | 0x26 | 0x3f | 0x40 | 0xd0..=0xd6 => 100,
        // Division, and rotation.
        0x6d..=0x70 | 0x7f..=0x82 => 50,
        0x77 | 0x78 | 0x89 | 0x8a => 120,
        // `min`, `max` and `copysign`.
        0x96..=0x98 | 0xa4..=0xa6 => 60,
        // Conversions that can fail, and those from 64 bits without a sign.
        0xa8..=0xab => 80,
        0xae..=0xb1 => 110,
        0xb5 | 0xba => 40,
        // Objects; conversions that cannot fail, and operations on whole memories; vectors; shared memory.
        0xfb => 250,
        0xfc => 170,
        0xfd | 0xfe => 100,
        _ => 0,
    }
}

/// To how many places control may go from an instruction, or come from.
fn branches(operator: &Operator<'_>) -> u64 {
    use Operator as O;
    match operator {
        O::BrTable { targets } => 1 + u64::from(targets.len()),
        O::TryTable { try_table } => 1 + try_table.catches.len() as u64,
        O::Block { .. }
        | O::Loop { .. }
        | O::If { .. }
        | O::Else
        | O::End
        | O::Try { .. }
        | O::Catch { .. }
        | O::CatchAll
        | O::Delegate { .. }
        | O::Br { .. }
        | O::BrIf { .. }
        | O::BrOnNull { .. }
        | O::BrOnNonNull { .. }
        | O::BrOnCast { .. }
        | O::BrOnCastFail { .. } => 1,
        O::BrOnCastDescEq { .. } | O::BrOnCastDescEqFail { .. } => 1,
        _ => 0,
    }
}

/// What an instruction handles that its operands and results do not say: fields of a struct that have their defaults, values of exceptions,
/// and that results of calls are stored twice.
fn implied(operator: &Operator<'_>, given: u64, validator: &FuncValidator<ValidatorResources>) -> u64 {
    match operator {
        Operator::StructNewDefault { struct_type_index }
        | Operator::StructNewDefaultDesc { struct_type_index } => {
            match validator.sub_type_at(*struct_type_index).map(|kind| &kind.composite_type.inner) {
                Some(CompositeInnerType::Struct(kind)) => kind.fields.len() as u64,
                _ => 0,
            }
        }
        Operator::TryTable { try_table } => {
            let values = |catch: &Catch| match catch {
                Catch::One { tag, .. } | Catch::OneRef { tag, .. } => {
                    validator.tag_type_arity(*tag).map_or(0, |(values, _)| u64::from(values))
                }
                Catch::All { .. } | Catch::AllRef { .. } => 0,
            };
            try_table.catches.iter().map(values).sum()
        }
        Operator::Call { .. } | Operator::CallIndirect { .. } | Operator::CallRef { .. } => {
            given * (RESULT_WORK - 1)
        }
        _ => 0,
    }
}
