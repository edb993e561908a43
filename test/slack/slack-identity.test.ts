import { expect, test } from 'vitest'
import { createSlackIdentity } from '../../src/slack/web-api.ts'
import { requestFor } from '../given/request.ts'

const botInSlack = { botId: 'B1', botUserId: 'U1', teamId: 'T1', workspaceUrl: 'https://nimbus.slack.com/' }
const posted = requestFor({ cardTs: '1795010400.000100' })

test('the identity and the links to cards are unknown before the first answer of Slack', async () => {
  const identity = createSlackIdentity(async () => botInSlack)
  expect(identity.current()).toBeUndefined()
  expect(identity.linkTo(posted)).toBeUndefined()

  await identity.reach()

  expect(identity.current()).toEqual(botInSlack)
  expect(identity.linkTo(posted)).toBe(`https://nimbus.slack.com/archives/${posted.origin.channelId}/p1795010400000100`)
})
