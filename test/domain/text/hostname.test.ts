import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hostnameProblem } from '../../../src/domain/text.ts'

describe('a hostname', () => {
  test.each([
    'web-1',
    'a',
    '7',
    'Web-EU-1',
    'db.storefront.example.com',
    'xn--mnchen-3ya',
    '3com.example',
    'a'.repeat(63),
    `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`,
    '1.2.3.example',
  ])('can be %s', (text) => {
    expect(hostnameProblem(text)).toBeUndefined()
  })

  test.each([
    ['', 'The new name is empty.'],
    ['web_1', 'A hostname has only letters (a–z, A–Z), digits, hyphens and dots. This one has an underscore.'],
    ['Preview_X!', 'A hostname has only letters (a–z, A–Z), digits, hyphens and dots. This one has an underscore and “!”.'],
    [
      'a_b_c d!e?',
      'A hostname has only letters (a–z, A–Z), digits, hyphens and dots. This one has an underscore, a space, “!” and others.',
    ],
    ['web 1', 'A hostname has only letters (a–z, A–Z), digits, hyphens and dots. This one has a space.'],
    ['münchen', 'A hostname has only letters (a–z, A–Z), digits, hyphens and dots. This one has “ü”.'],
    ['web/1', 'A hostname has only letters (a–z, A–Z), digits, hyphens and dots. This one has “/”.'],
    ['web`1', 'A hostname has only letters (a–z, A–Z), digits, hyphens and dots. This one has a backtick.'],
    ['web\u200b1', 'A hostname has only letters (a–z, A–Z), digits, hyphens and dots. This one has an invisible character.'],
    ['-web', 'A hostname begins and ends with a letter or digit, not with a hyphen.'],
    ['web-.example', 'A hostname, and each part of it, begins and ends with a letter or digit, not with a hyphen.'],
    ['web.', 'A hostname has letters or digits before, between and after its dots.'],
    ['web..eu', 'A hostname has letters or digits before, between and after its dots.'],
    ['203.0.113.10', "A hostname can't look like an IP address."],
    [`web.${'a'.repeat(64)}`, 'Each part of a hostname has at most 63 characters. One part of this one has 64.'],
    ['a.'.repeat(127), 'A hostname has at most 253 characters. This one has 254.'],
  ])('cannot be %j, and the reason is shown', (text, problem) => {
    expect(hostnameProblem(text)).toBe(problem)
  })

  test('fits the standard if it is accepted', () => {
    const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i
    const near = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-', '.', '_', ' ', 'é'), maxLength: 12 })
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), (text) => {
        const isOne = text.length <= 253 && text.split('.').every((part) => label.test(part)) && !/^\d+(\.\d+){3}$/.test(text)
        expect(hostnameProblem(text) === undefined).toBe(isOne)
      }),
    )
  })
})
