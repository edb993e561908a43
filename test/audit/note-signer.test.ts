import { expect, test } from 'vitest'
import { createNoteSigner } from '../../src/audit/chain.ts'
import { createKeyring, Secret } from '../../src/domain/signing.ts'

const keyring = createKeyring([new Secret('a-secret-of-at-least-32-characters!!')], { purpose: 'audit', prefix: 'lockkeeper' })

const fieldsOf = ({ note }: { note: object }) => note as Record<string, unknown>

test('notes are numbered from 1 in their process, and signed whole', () => {
  const signer = createNoteSigner(keyring, 'a1')
  const [first, second] = [signer.sign({ act: 'request' }), signer.sign({ act: 'approve', by: 'U0BEN00001' })]

  expect([first.note, second.note]).toMatchObject([
    { act: 'request', process: 'a1', number: 1 },
    { act: 'approve', process: 'a1', number: 2 },
  ])
  const { signature, ...signed } = fieldsOf(second)
  expect(keyring.verify(signed, signature)).toBe('genuine')
  expect(keyring.verify({ ...signed, by: 'U0MAL00001' }, signature)).toBe('forged')
})

test('a number that no note got is named by the next note that is written', () => {
  const signer = createNoteSigner(keyring, 'a1')
  signer.sign({ act: 'approve' }).settle('not-written')
  const second = signer.sign({ act: 'reject' })
  second.settle('not-written')
  const third = signer.sign({ act: 'late' })
  third.settle('written')

  expect(second.note).toMatchObject({ number: 2, voids: [1] })
  expect(third.note).toMatchObject({ number: 3, voids: [1, 2] })
  expect(signer.sign({ act: 'finish' }).note).not.toHaveProperty('voids')
})

test('a number whose note may be there or not is named as uncertain', () => {
  const signer = createNoteSigner(keyring, 'a1')
  signer.sign({ act: 'send' }).settle('unknown')
  expect(signer.sign({ act: 'finish' }).note).toMatchObject({ number: 2, uncertain: [1] })
})

test('two processes never number the same', () => {
  const [one, other] = [createNoteSigner(keyring), createNoteSigner(keyring)]
  expect(fieldsOf(one.sign({ act: 'request' })).process).not.toBe(fieldsOf(other.sign({ act: 'request' })).process)
})
