import { expect, test } from 'vitest'
import { createSlackIdentity } from '../../src/bot/slack-identity.ts'
import { requestFor } from '../requests/request-for-test.ts'

const nimbus = { botId: 'B1', botUserId: 'U1', teamId: 'T1', workspaceUrl: 'https://nimbus.slack.com/' }
const posted = requestFor({ cardTs: '1795010400.000100' })

test('the identity and links to cards are unknown until Slack was reached', async () => {
  const identity = createSlackIdentity(async () => nimbus)
  expect(identity.current()).toBeUndefined()
  expect(identity.linkTo(posted)).toBeUndefined()

  await identity.reach()

  expect(identity.current()).toEqual(nimbus)
  expect(identity.linkTo(posted)).toBe(`https://nimbus.slack.com/archives/${posted.origin.channelId}/p1795010400000100`)
})

test('a card that is not posted yet has no link', async () => {
  const identity = createSlackIdentity(async () => nimbus)
  await identity.reach()
  expect(identity.linkTo({ ...posted, cardTs: undefined })).toBeUndefined()
})
