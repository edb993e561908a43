import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../../src/domain/signing.ts'
import { anyText } from '../../any-text.ts'

/** The same with the names of every object in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, item]) => [name, reversed(item)]),
  )
}

describe('canonical JSON', () => {
  test('is the same text for the same content, in whatever order its members come', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
      }),
    )
    expect(canonicalJson({ b: [{ d: 1, c: 'é"\n' }], a: null })).toBe('{"a":null,"b":[{"c":"é\\"\\n","d":1}]}')
  })

  test('is JSON with the same content, without what JSON leaves out', () => {
    const anything = fc.anything({ values: [anyText(), fc.double(), fc.boolean(), fc.constantFrom(null, undefined)] })
    fc.assert(
      fc.property(anything, (value) => {
        fc.pre(value !== undefined)
        expect(canonicalJson(canonical(value))).toBe(canonicalJson(value))
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    expect(canonicalJson({ a: undefined, b: [undefined, Number.NaN], c: -0 })).toBe('{"b":[null,null],"c":0}')
  })

  const canonical = (value: unknown) => JSON.parse(canonicalJson(value))
})
