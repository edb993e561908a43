import fc from 'fast-check'

const halves = { from: 0xd800, count: 0x800 }

/** Any code point except half characters. fast-check's own unit `binary` fills a map with a million characters first, which takes a second. */
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - halves.count }).map(
  (index) => String.fromCodePoint(index < halves.from ? index : index + halves.count),
  (character) => {
    const code = typeof character === 'string' ? character.codePointAt(0) : undefined
    if (code === undefined || character !== String.fromCodePoint(code)) throw new Error('not one character')
    return code < halves.from ? code : code - halves.count
  },
)

/** Any text, and sometimes one that is dangerous as a name in JavaScript, such as `__proto__`. */
export const anyText = (constraints: fc.ArrayConstraints = {}) => fc.string({ ...constraints, unit: anyCharacter })
