import { expect, test } from 'vitest'
import { conversationOptions, fittingOptions } from '../sandbox/page/conversations.ts'

const channels = [
  { id: 'C1', name: 'ops', topic: '' },
  { id: 'C2', name: 'secret', topic: '', isPrivate: true },
  { id: 'C3', name: 'partner-ops', topic: '', isShared: true },
]

test('a conversations select offers what its filter includes, without shared channels if it excludes them', () => {
  const offered = (filter: object) => conversationOptions(channels, filter).map(({ value }) => value)
  expect(offered({})).toEqual(['C1', 'C2', 'C3'])
  expect(offered({ include: ['public'] })).toEqual(['C1', 'C3'])
  expect(offered({ include: ['public', 'private'], exclude_external_shared_channels: true })).toEqual(['C1', 'C2'])
})

test('options are searched by their text', () => {
  expect(fittingOptions(conversationOptions(channels), ' OPS').map(({ text }) => text.text)).toEqual(['#ops', '#partner-ops'])
})
