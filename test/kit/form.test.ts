import type { KnownBlock } from '@slack/web-api'
import { describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { CheckFailed } from '../../src/domain/errors.ts'
import {
  actionIdOf,
  type Form,
  filledView,
  formForItem,
  formView,
  oneOf,
  pick,
  submitForm,
  text,
  updateForm,
} from '../../src/kit/change-form.ts'
import { elasticIps, servers } from '../../src/kit/things.ts'
import { option } from '../../src/slack/blocks.ts'
import type { Click, Submission } from '../../src/slack/interactions.ts'
import { type Metadata, readMetadata, writeMetadata } from '../../src/slack/payloads.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { ids } from '../domain/account-objects.ts'
import { fakeApp } from '../fake-app.ts'
import { readableBlocks } from '../messages/readable.ts'

const reporting = { errors: { shownToPerson: () => {} } }

interface Input {
  elasticIpId: string
  serverId: string
  note: string
  speed: string
}

const form: Form<Input, object> = {
  callbackId: 'try',
  title: 'Try a form',
  about: 'elasticIpId',
  fields: {
    elasticIpId: pick(elasticIps, { label: 'Elastic IP', hint: 'Search by address.' }),
    serverId: pick(servers, {
      label: 'Server',
      dependsOn: 'elasticIpId',
      fits:
        async () =>
        ({ id }) =>
          id === ids.web2,
    }),
    note: text({ label: 'Note', optional: true, problem: (note) => (note.includes('!') ? mrkdwn`No shouting.` : undefined) }),
    speed: oneOf([option({ text: 'Slow', value: 'slow' }), option({ text: 'Fast', value: 'fast' })], { label: 'Speed' }),
  },
  errorsAt: 'serverId',
  filled: ({ elasticIpId, serverId }) => ({
    elasticIpId: option({ text: '203.0.113.10', value: elasticIpId }),
    serverId: option({ text: 'web-2', value: serverId }),
  }),
}
const change = { input: { parse: (input: Input) => input }, facts: { parse: () => ({}) } } as never
const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
const metadata = writeMetadata({ origin })
const eip = option({ text: '203.0.113.10', value: ids.elasticIp })
const input = { elasticIpId: ids.elasticIp, serverId: ids.web2, note: 'now', speed: 'fast' }
const fieldsIn = (view: { blocks: object[] }) => view.blocks.flatMap((block) => ('block_id' in block ? [block.block_id] : []))

test('a form has its fields and the reason, each by its name', () => {
  const view = formView(form, { metadata, problem: mrkdwn`Not so.` })

  expect(readableBlocks(view.blocks as KnownBlock[])).toMatchInlineSnapshot(`
    ":warning: Not so.
    {"type":"input","block_id":"elasticIpId","label":{"type":"plain_text","text":"Elastic IP","emoji":false},"element":{"type":"external_select","action_id":"try:elasticIpId","min_query_length":0,"placeholder":{"type":"plain_text","text":"Choose an Elastic IP","emoji":false}},"optional":false,"dispatch_action":true,"hint":{"type":"plain_text","text":"Search by address.","emoji":false}}
    {"type":"input","block_id":"serverId","label":{"type":"plain_text","text":"Server","emoji":false},"element":{"type":"external_select","action_id":"try:serverId","min_query_length":0,"placeholder":{"type":"plain_text","text":"Choose a server","emoji":false}},"optional":false}
    {"type":"input","block_id":"note","label":{"type":"plain_text","text":"Note","emoji":false},"element":{"type":"plain_text_input","action_id":"try:note","multiline":false,"max_length":3000},"optional":true}
    {"type":"input","block_id":"speed","label":{"type":"plain_text","text":"Speed","emoji":false},"element":{"type":"radio_buttons","action_id":"try:speed","options":[{"text":{"type":"plain_text","text":"Slow","emoji":false},"value":"slow"},{"text":{"type":"plain_text","text":"Fast","emoji":false},"value":"fast"}],"initial_option":{"text":{"type":"plain_text","text":"Slow","emoji":false},"value":"slow"}},"optional":false}
    {"type":"input","block_id":"start","label":{"type":"plain_text","text":"Start","emoji":false},"element":{"type":"plain_text_input","action_id":"start","multiline":false,"max_length":100},"optional":true,"hint":{"type":"plain_text","text":"Such as 22:00, tomorrow 06:00 or in 2h, in your Slack time zone. Leave empty to start at once.","emoji":false}}
    {"type":"input","block_id":"reason","label":{"type":"plain_text","text":"Reason","emoji":false},"element":{"type":"plain_text_input","action_id":"reason","multiline":false,"max_length":500},"optional":true,"hint":{"type":"plain_text","text":"Approvers will see this.","emoji":false}}"
  `)
  expect(fieldsIn(view)).toEqual(['elasticIpId', 'serverId', 'note', 'speed', 'start', 'reason'])
  expect(actionIdOf(form, 'note')).toBe('try:note')
})

describe('a form that is filled', () => {
  test('by an earlier request has its values, and its title', () => {
    const repeating = writeMetadata({ origin, undoes: { id: 'r1' } })
    const view = formView(form, filledView(form, change, repeating, { input, facts: {}, reason: 'as before', title: 'Move back' }).view)

    expect(view.title.text).toBe('Move back')
    expect(JSON.stringify(view.blocks)).toContain('"initial_value":"as before"')
    for (const filled of [`"value":"${ids.web2}"`, '"initial_value":"now"']) expect(JSON.stringify(view.blocks)).toContain(filled)
    expect(formView(form, { metadata: view.private_metadata ?? '' }).title.text).toBe('Move back')
  })

  test('by a list has its item in the field that the form is about', () => {
    const view = formForItem(form, metadata, { id: ids.elasticIp, text: '203.0.113.10' })
    expect(JSON.stringify(view.blocks[0])).toContain(`"initial_option":${JSON.stringify(eip)}`)
    expect(readMetadata(view.private_metadata ?? '')?.chosen).toBe(ids.elasticIp)
  })
})

describe('a form that was sent', () => {
  const chosen = { elasticIpId: eip, [`serverId:${ids.elasticIp}`]: option({ text: 'web-2', value: ids.web2 }) }
  const values = { elasticIpId: ids.elasticIp, [`serverId:${ids.elasticIp}`]: ids.web2, note: ' now ', speed: 'fast', reason: 'OPS-1' }
  const send = (submit: App['submit'], sent: object = {}) =>
    submitForm(fakeApp({ submit, ...reporting }), form, { change, findings: { fieldOf: () => undefined } }, {
      metadata,
      origin,
      values,
      chosen,
      deliveryKey: 'd1',
      ...sent,
    } as unknown as Submission)

  test('requests what was entered', async () => {
    const submitted: unknown[] = []
    const answer = await send(async (requested) => {
      submitted.push(requested)
      return { is: 'posted', requestId: 'r1', title: mrkdwn`Try`, channelId: 'C0OPS00001', asked: undefined, handoverLabel: undefined }
    })

    expect(answer.is).toBe('accepted')
    expect(submitted).toMatchObject([{ input, reason: 'OPS-1', origin }])
  })

  test('requests no member for a field that was left empty', async () => {
    const submitted: object[] = []
    await send(
      async ({ input }) => {
        submitted.push(input as object)
        throw new CheckFailed({ code: 'no' }, { why: 'It cannot be.' })
      },
      { values: { ...values, note: ' ' } },
    )
    expect(submitted).toEqual([{ elasticIpId: ids.elasticIp, serverId: ids.web2, speed: 'fast' }])
  })

  test('requests a text without what pasting adds', async () => {
    const submitted: object[] = []
    const requested = async ({ input }: { input: unknown }) => {
      submitted.push(input as object)
      throw new CheckFailed({ code: 'no' }, { why: 'It cannot be.' })
    }
    await send(requested, { values: { ...values, note: ' *`web\u20111`* ' } })
    expect(submitted).toMatchObject([{ note: 'web-1' }])
  })

  test('shows every problem at its field, and keeps what was entered', async () => {
    const answer = await send(() => expect.fail('it was requested'), { values: { ...values, note: 'now!' }, chosen: {} })

    if (answer.is !== 'refused') throw new Error('it was not refused')
    expect(Object.entries(answer.problems).map(([id, words]) => [id, words.text])).toEqual([
      ['elasticIpId', 'Choose an Elastic IP.'],
      [`serverId:${ids.elasticIp}`, 'Choose a server.'],
      ['note', 'No shouting.'],
    ])
    expect(JSON.stringify(answer.again(mrkdwn`Not so.`).blocks)).toContain('"initial_value":"now!"')
  })

  test.each([
    ['the field that its finding names', 'note', 'note'],
    ['the usual one, if it names none', undefined, `serverId:${ids.elasticIp}`],
  ])('shows a refusal at %s', async (_, field, blockId) => {
    const refusing = () => Promise.reject(new CheckFailed({ code: 'no' }, { why: 'It cannot be.' }))
    const fields = { change, findings: { fieldOf: () => field } }
    const sent = { metadata, origin, values, chosen, deliveryKey: 'd1' } as unknown as Submission
    expect(await submitForm(fakeApp({ submit: refusing, ...reporting }), form, fields, sent)).toMatchObject({ problems: { [blockId]: {} } })
  })
})

describe('a choice on which another field depends', () => {
  async function choose(chosen: Metadata['chosen'], server: string | undefined) {
    const views: ReturnType<typeof formView>[] = []
    const serverBlock = chosen === undefined ? 'serverId' : `serverId:${chosen}`
    const view = {
      metadata: writeMetadata({ origin, chosen }),
      values: { elasticIpId: ids.elasticIp, [serverBlock]: server },
      chosen: { elasticIpId: eip, ...(server && { [serverBlock]: option({ text: server, value: server }) }) },
      update: async (updated: (typeof views)[number]) => void views.push(updated),
    }
    await updateForm(fakeApp({}), form, 'elasticIpId', { view } as unknown as Click)
    return views.map((shown) => ({
      blockId: fieldsIn(shown)[1],
      chosen: readMetadata(shown.private_metadata ?? '')?.chosen,
      keeps: JSON.stringify(shown.blocks[1]).includes('initial_option'),
    }))
  }

  test('is noted in the metadata, and leaves the field alone in which the person may be typing', async () => {
    expect(await choose(undefined, undefined)).toEqual([{ blockId: 'serverId', chosen: ids.elasticIp, keeps: false }])
  })

  test('drops what was chosen for another one with a new block id, and keeps what was chosen first', async () => {
    const blockId = `serverId:${ids.elasticIp}`
    expect(await choose('eip_other', ids.web2)).toEqual([{ blockId, chosen: ids.elasticIp, keeps: false }])
    expect(await choose(undefined, ids.web2)).toEqual([{ blockId, chosen: ids.elasticIp, keeps: true }])
  })

  test('changes nothing if it is the same again', async () => {
    expect(await choose(ids.elasticIp, ids.web3)).toEqual([])
  })
})
