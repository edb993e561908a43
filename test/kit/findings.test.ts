import { expect, test } from 'vitest'
import { z } from 'zod'
import { CheckFailed } from '../../src/domain/errors.ts'
import { phrase } from '../../src/domain/text.ts'
import { finding, findings } from '../../src/kit/findings.ts'

const size = z.number()
const { refuse, explain, fieldOf } = findings({
  'too-small': finding({ size }, ({ size }) => phrase`${'web-1'} has ${size}.`, { next: 'Choose another.', field: 'server' }),
  'too-large': finding({ size }, () => 'It is too large.', { next: ({ size }) => (size > 9 ? 'Split it.' : undefined) }),
})

function refused(act: () => never): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}

test('a finding has its words, what to do next, and the field that shows it', () => {
  const error = refused(() => refuse({ code: 'too-small', size: 2 }))

  expect(error).toBeInstanceOf(CheckFailed)
  expect(error).toMatchObject({ message: 'web-1 has 2.', next: 'Choose another.', finding: { code: 'too-small', size: 2 } })
  expect(fieldOf(error)).toBe('server')
  expect(fieldOf(refused(() => refuse({ code: 'too-large', size: 7 })))).toBeUndefined()
  expect(fieldOf(new Error('no finding'))).toBeUndefined()
})

test('a sentence declares the names in it', () => {
  const { words, explain } = findings({ full: finding('{server} is full: {used} of {used} used.', { field: 'server' }) })

  expect(words({ code: 'full', server: 'web-1', used: '9' }).phrase).toEqual(phrase`${'web-1'} is full: ${'9'} of ${'9'} used.`)
  expect(explain({ code: 'full', server: 'web-1' })).toBeUndefined()
})

test('a stored finding is put into words, and one that this version does not know is not', () => {
  expect(explain({ code: 'too-small', size: 2 })?.phrase).toEqual(phrase`${'web-1'} has ${2}.`)
  expect(explain({ code: 'too-large', size: 10 })).toEqual({ why: 'It is too large.', next: 'Split it.' })
  expect(explain({ code: 'too-large', size: 7 })?.next).toBeUndefined()
  expect(explain({ code: 'too-large', size: 'huge' })).toBeUndefined()
  expect(explain({ code: 'constructor' })).toBeUndefined()
})
