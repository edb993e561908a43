import { expect, test } from 'vitest'
import { type Description, withoutRequester } from '../../../src/domain/change.ts'
import { owner, phrase } from '../../../src/domain/text.ts'

const [ada, ben] = ['U0ADA00001', 'U0BEN00001']
const rotation: Description = {
  title: phrase`Rotate API key ${'ci-deploy'}${owner(ada)}`,
  facts: [
    { label: 'For', value: ada, isPerson: true },
    { label: 'Ends in', value: 'x4f2' },
  ],
  ids: [],
  underway: 'being rotated',
}

test('a change does not say for whom it is if that is its requester, whom its messages name', () => {
  expect(withoutRequester(rotation, ada)).toEqual({
    ...rotation,
    title: phrase`Rotate API key ${'ci-deploy'}`,
    facts: [{ label: 'Ends in', value: 'x4f2' }],
  })
})

test('a change for somebody else than its requester says so', () => {
  expect(withoutRequester(rotation, ben)).toEqual(rotation)
})
