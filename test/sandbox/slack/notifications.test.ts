import { expect, test } from 'vitest'
import { ada, ben, chiara, dov, mrkdwn, ops, plain, section, startScripted } from './slack-for-test.ts'

async function start() {
  const { slack, client, ...rest } = await startScripted()
  const notified = () => [ada, ben, chiara, dov].filter((person) => slack.as(person).notifications().length > 0)
  return { ...rest, slack, client, notified }
}

test('a new message notifies the people and the groups that it mentions, with its text', async () => {
  const { slack, client, notified } = await start()

  await client.chat.postMessage({ channel: ops, text: 'Nobody is meant.' })
  expect(notified()).toEqual([])
  const { ts } = await client.chat.postMessage({ channel: ops, text: `<@${dov}> or <!subteam^S0ONCALL01>: look.` })

  expect(notified()).toEqual([ben, chiara, dov])
  expect(slack.as(dov).notifications()).toMatchObject([{ channel: ops, ts, text: `<@${dov}> or <!subteam^S0ONCALL01>: look.` }])
})

test('the mentions of a message with blocks are those that its blocks show, and plain text mentions nobody', async () => {
  const { slack, client, notified } = await start()

  await client.chat.postMessage({
    channel: ops,
    text: `<@${ada}>: look.`,
    blocks: [section({ text: mrkdwn(`<@${ben}>: look.`) }), { type: 'section', text: plain(`<@${dov}>`) }] as never,
  })

  expect(notified()).toEqual([ben])
  expect(slack.as(ben).notifications()[0]?.text).toBe(`<@${ada}>: look.`)
})

test('an ephemeral message and an edit notify nobody', async () => {
  const { client, notified } = await start()
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'A request' })

  await client.chat.postEphemeral({ channel: ops, user: ada, text: `<@${ada}>: only you see this.` })
  await client.chat.update({ channel: ops, ts, text: `<@${ada}>: approved.` })

  expect(notified()).toEqual([])
})

test('a reply notifies those who were named in its thread or replied to it, but not its author or the others of a group', async () => {
  const { slack, client, notified } = await start()
  const { ts: threadTs = '' } = await client.chat.postMessage({ channel: ops, text: 'A request for <!subteam^S0ONCALL01>' })
  await slack.as(dov).say('What is this?', { channel: ops, threadTs })
  await slack.as(ada).say(`<@${dov}>: mine.`, { channel: ops, threadTs })
  const before = slack.as(ben).notifications().length

  await client.chat.postMessage({ channel: ops, thread_ts: threadTs, text: 'Done.' })

  expect([ada, ben, dov].map((person) => slack.as(person).notifications().at(-1)?.text)).toEqual([
    'Done.',
    'A request for <!subteam^S0ONCALL01>',
    'Done.',
  ])
  expect(slack.as(ben).notifications()).toHaveLength(before)
  expect(slack.as(ada).notifications()).toHaveLength(1)
  expect(notified()).toEqual([ada, ben, chiara, dov])
})

test('who is named only by an edit does not follow the thread', async () => {
  const { client, notified } = await start()
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'A request' })

  await client.chat.update({ channel: ops, ts, text: `Approved by <@${ben}>` })
  await client.chat.postMessage({ channel: ops, thread_ts: ts, text: 'Done.' })

  expect(notified()).toEqual([])
})

test('a direct message notifies its person, and a mention in a channel only its members', async () => {
  const { slack, client } = await start()
  slack.leave(ops, ben)

  await client.chat.postMessage({ channel: ada, text: 'For you' })
  await client.chat.postMessage({ channel: ops, text: `<@${ben}>` })

  expect(slack.as(ada).notifications()).toHaveLength(1)
  expect(slack.as(ben).notifications()).toEqual([])
})
