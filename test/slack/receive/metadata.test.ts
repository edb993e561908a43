import { describe, expect, it } from 'vitest'
import { readMetadata, writeMetadata } from '../../../src/slack/payloads.ts'

describe("a modal's metadata", () => {
  const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

  it('is read as it was written', () => {
    const metadata = { origin, responseUrl: 'https://hooks.slack.example/commands/1', extra: 'r1' }

    expect(readMetadata(writeMetadata(metadata))).toEqual({ version: 1, ...metadata })
  })

  it.each(['', 'null', '{', '{"origin":{}}', '[]'])('is undefined if another version wrote it: %j', (text) => {
    expect(readMetadata(text)).toBeUndefined()
  })
})
