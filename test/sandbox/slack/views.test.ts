import { describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import { actions, ada, ben, button, input, modal, option, outcomeOf, plain, section, startScripted } from './slack-for-test.ts'

const trouble = 'We had some trouble connecting. Try again?'

async function startWithModals() {
  const scripted = await startScripted()
  const asAda = scripted.slack.as(ada)
  const trigger = async () => String((await asAda.command('/infra', { channel: 'ops' })).payload.trigger_id)
  const open = async (view: never) => String((await scripted.client.views.open({ trigger_id: await trigger(), view })).view?.id)
  const titles = () => asAda.openViews().map(({ title }) => title)
  return { ...scripted, asAda, trigger, open, titles }
}

describe('a modal', () => {
  test('opens with a trigger, which is valid for three seconds and for one view', async () => {
    const { client, asAda, trigger, clock } = await startWithModals()
    const openWith = (id: string, title = 'Two') => outcomeOf(client.views.open({ trigger_id: id, view: modal(title) }))
    const [used, late] = [await trigger(), await trigger()]

    expect(await openWith(used, 'One')).toBe('ok')
    expect(await openWith(used)).toBe('exchanged_trigger_id')
    expect(await openWith('1.2.three')).toBe('invalid_trigger_id')
    clock.now += 3001
    expect(await openWith(late)).toBe('expired_trigger_id')
    expect(await openWith(await trigger(), 'A title that is too long for a modal')).toBe('invalid_arguments')
    expect(asAda.topView().title).toBe('One')
  })

  test('keeps its input when it is updated, and is gone once it is closed', async () => {
    const { client, asAda, open } = await startWithModals()
    const id = await open(modal('One'))
    await asAda.fill(id, { Name: 'web-2' })
    await client.views.update({ view_id: id, view: modal('Two') })

    expect(asAda.topView().view).toMatchObject({ title: { text: 'Two' }, state: { values: { Name: { a: { value: 'web-2' } } } } })
    await asAda.close()
    expect(await outcomeOf(client.views.update({ view_id: id, view: modal('Three') }))).toBe('not_found')
  })

  test('sends its submission with the whole view and no channel', async () => {
    const { asAda, open } = await startWithModals()
    const often = input('Often', { type: 'radio_buttons', options: [option('Once'), option('Daily')] })
    await open(
      modal('One', { private_metadata: 'C0OPS00001', blocks: [input('Name'), often, input('Note', undefined, { optional: true })] }),
    )
    const refused = await asAda.submit()
    await asAda.fill(undefined, { Name: 'web-2', Often: 'Daily' })
    const { payload } = await asAda.submit()

    const unfilled = 'Please complete this required field.'
    expect(refused).toMatchObject({ outcome: 'not-sent', errors: { Name: unfilled, Often: unfilled } })
    expect(Object.keys(payload).sort().join(' ')).toBe(
      'api_app_id enterprise is_enterprise_install response_urls team token trigger_id type user view',
    )
    expect(payload).toMatchObject({ type: 'view_submission', is_enterprise_install: false, user: { id: ada, name: 'ada' } })
    expect(payload.view).toMatchObject({ callback_id: 'One', private_metadata: 'C0OPS00001' })
    expect((payload.view as Json).state).toEqual({
      values: {
        Name: { a: { type: 'plain_text_input', value: 'web-2' } },
        Often: { a: { type: 'radio_buttons', selected_option: option('Daily') } },
        Note: { a: { type: 'plain_text_input', value: null } },
      },
    })
  })

  test('applies the answer to its submission: update, push, close', async () => {
    const { bot, asAda, open, titles } = await startWithModals()
    const read = (title: string) => modal(title, { blocks: [section()] })
    await open(read('One'))

    bot.answer(() => ({ body: { response_action: 'update', view: read('Two') } }))
    await asAda.submit()
    expect(titles()).toEqual(['Two'])
    bot.answer(() => ({ body: { response_action: 'push', view: read('Three') } }))
    await asAda.submit()
    expect(titles()).toEqual(['Two', 'Three'])
    bot.answer(() => ({}))
    await asAda.submit()
    expect(titles()).toEqual(['Two'])
    bot.answer(() => ({ body: { response_action: 'clear' } }))
    await expect(asAda.submit()).rejects.toThrow('does not describe the answer "clear" to a submission')
  })

  test('stays, and Slack shows a notice, if the answer is late, an error or one that Slack cannot use', async () => {
    const { bot, asAda, open, titles } = await startWithModals()
    await open(modal('One', { blocks: [section()] }))
    const unusable = [
      { body: { response_action: 'update', view: modal('A title of more than twenty-four') } },
      { body: { response_action: 'errors', errors: { Nowhere: 'no such block' } } },
      { hold: true },
      { status: 500 },
    ]

    for (const answer of unusable) {
      bot.answer(() => answer)
      expect((await asAda.submit()).notice).toBe(trouble)
    }
    expect(titles()).toEqual(['One'])
  })

  test('requests options from the bot after enough letters, and delivers a choice at once if the block says so', async () => {
    const { bot, asAda, open } = await startWithModals()
    const picker = { type: 'external_select', min_query_length: 2 }
    const id = await open(modal('One', { blocks: [input('Server', picker, { dispatch_action: true })] }))
    const web2 = { text: plain('web-2 (Madrid)'), value: 'sv_22mUQSvUfeqdv' }
    bot.answer(({ type }) => (type === 'block_suggestion' ? { body: { options: [web2] } } : {}))

    const tooShort = await asAda.search(undefined, 'Server', 'w')
    const [click] = await asAda.fill(id, { Server: 'sv_22mUQSvUfeqdv' })

    expect(tooShort).toMatchObject({ outcome: 'not-sent', options: [] })
    expect(bot.received.at(-2)?.payload).toMatchObject({
      type: 'block_suggestion',
      value: 'sv_22mUQSvUfeqdv',
      view: { state: { values: {} } },
    })
    expect(click?.payload).toMatchObject({
      type: 'block_actions',
      container: { type: 'view', view_id: id },
      actions: [{ type: 'external_select', action_id: 'a', block_id: 'Server', selected_option: web2 }],
      view: { state: { values: { Server: { a: { selected_option: web2 } } } } },
    })
    expect(click?.payload).not.toHaveProperty('response_url')
    await expect(asAda.fill(id, { Server: 'db' })).rejects.toThrow('"Server" offers no "db"; there is: web-2 (Madrid).')
  })
})

describe('the Home tab', () => {
  async function startWithHome() {
    const scripted = await startScripted()
    const publish = (...blocks: Json[]) => scripted.client.views.publish({ user_id: ada, view: { type: 'home', blocks } as never })
    const home = () => {
      const view = scripted.slack.as(ada).home()
      if (view === undefined) throw new Error('nothing is on the Home tab')
      return view
    }
    return { ...scripted, publish, home, asAda: scripted.slack.as(ada) }
  }

  test('delivers to the bot who opens it, member by member', async () => {
    const { bot, asAda, publish } = await startWithHome()

    const delivery = await asAda.openHome()
    await publish({ type: 'header', text: plain('Lockkeeper') })
    await asAda.openHome()
    await asAda.openHome({ tab: 'messages' })

    const [first, second, third] = bot.received.map(({ payload }) => payload)
    expect(delivery).toMatchObject({ kind: 'event', outcome: 'acknowledged', status: 200 })
    expect(bot.received[0]?.headers['content-type']).toBe('application/json')
    expect(first).toEqual({
      api_app_id: 'A0LOCKKEEP',
      authorizations: [{ enterprise_id: null, is_bot: true, is_enterprise_install: false, team_id: 'T0NIMBUS01', user_id: 'U0LOCKKEEP' }],
      event: { channel: 'D0ADA00001', event_ts: '1763700000.000000', tab: 'home', type: 'app_home_opened', user: ada },
      event_id: 'Ev0000000001',
      event_time: 1763700000,
      is_ext_shared_channel: false,
      team_id: 'T0NIMBUS01',
      token: 'not-verified-by-this',
      type: 'event_callback',
    })
    expect(second?.event).toMatchObject({ tab: 'home', view: { type: 'home', blocks: [{ type: 'header' }] } })
    expect(third?.event).not.toHaveProperty('view')
  })

  test('is published for one person and keeps its id; a click there carries its view, and no channel, message or response URL', async () => {
    const { slack, publish, home, asAda } = await startWithHome()
    const first = await publish(section())
    const second = await publish(actions(button()))

    const { payload } = await asAda.click(home(), 'Go')

    expect(second.view).toMatchObject({ id: first.view?.id, type: 'home', previous_view_id: null })
    expect(slack.as(ben).home()).toBeUndefined()
    expect(Object.keys(payload).sort().join(' ')).toBe(
      'actions api_app_id container enterprise is_enterprise_install team token trigger_id type user view',
    )
    expect(payload).toMatchObject({
      type: 'block_actions',
      container: { type: 'view', view_id: first.view?.id },
      view: { id: first.view?.id, type: 'home', hash: second.view?.hash, state: { values: {} } },
      actions: [{ type: 'button', action_id: 'go', block_id: 'buttons', value: 'r1' }],
    })
  })

  test('keeps old copies usable: a click on one carries the view of that time', async () => {
    const { slack, publish, home, asAda } = await startWithHome()
    await publish(actions(button()))
    const before = home()
    await publish(actions(button({ value: 'r2' })))

    const { payload } = await asAda.click(before, 'Go')

    expect(payload).toMatchObject({ view: { hash: before.hash }, actions: [{ value: 'r1' }] })
    await expect(slack.as(ben).click(before, 'Go')).rejects.toThrow('This is not the Home tab of Ben Laurent.')
  })
})
