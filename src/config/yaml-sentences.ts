export const tooDeep = 'lists are nested too deeply: a policy needs four levels'

export const repeatedAnchor = 'an anchor (&) above has the same name: give each its own name'

const unclosed =
  'the indentation does not fit the lines above it, or a bracket or quote is not closed: line it up with its neighbours and close them'
const colons =
  'there is an extra colon, or quotes are missing: put quotes around text that has ": " in it, and begin lists and keys on a new line'

const sentences: Partial<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here: remove the line with --- or ..., because a policy is one document',
  TAB_AS_INDENT: 'a tab indents this line: use spaces',
  BAD_INDENT: unclosed,
  MISSING_CHAR: unclosed,
  BLOCK_AS_IMPLICIT_KEY: colons,
  MULTILINE_IMPLICIT_KEY: colons,
  BAD_SCALAR_START:
    'a value cannot begin with @ or `: write an id (people and groups have ids such as U0BEN00001 and S0ONCALL01), or put quotes around it',
  BAD_DQ_ESCAPE: 'a backslash in double quotes starts an escape sequence: use single quotes',
  BAD_ALIAS: 'an alias (*) has no anchor: define its anchor (&) above it, or put quotes around it',
  TAG_RESOLVE_FAILED: 'a word that begins with ! is a tag, and tags are not supported: remove it, or put quotes around the value',
  BAD_DIRECTIVE: 'a line that begins with % is a directive, and directives are not supported: remove it',
  NON_STRING_KEY: 'a key must be a plain word such as name or approve',
  RESOURCE_EXHAUSTION: tooDeep,
}

/** Returns a sentence for an error code of the YAML parser. The parser's own messages quote the file and do not say what to do. */
export function yamlSentence(code: string): string {
  return sentences[code] ?? 'this is not YAML: look at the colons, quotes, brackets and indentation of this line and the one above it'
}
