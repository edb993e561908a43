import type { ModalView } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../../src/domain/errors.ts'
import { submitFromCommand, submitFromForm } from '../../../src/requests/interactions/submit-from-slack.ts'
import type { Submit } from '../../../src/requests/lifecycle/submit.ts'
import type { CommandCall } from '../../../src/slack/commands/commands.ts'
import type { Submission } from '../../../src/slack/commands/handlers.ts'
import type { Mrkdwn } from '../../../src/slack/text/text.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
const change = { kind: 'ip.move' } as never
const sent = { is: 'posted', requestId: 'r1', needsApproval: true, handoverLabel: undefined } as const
const again = (problem: Mrkdwn): ModalView => ({ type: 'modal', title: { type: 'plain_text', text: problem.text }, blocks: [] })

function refuseWith(error: unknown): Submit {
  return async () => {
    throw error
  }
}

describe('a request from a command', () => {
  it('is submitted with its origin, and the requester gets the outcome', async () => {
    const submitted: unknown[] = []
    const said: string[] = []
    const submit = (async (requested: unknown) => {
      submitted.push(requested)
      return sent
    }) as Submit
    const call = { slashCommand: { origin, deliveryKey: 'd1' }, say: async ({ text }: Mrkdwn) => void said.push(text) }

    await submitFromCommand(submit, call as unknown as CommandCall, { change, input: { to: 'web-2' } })

    expect(submitted).toEqual([{ change, input: { to: 'web-2' }, origin, deliveryKey: 'd1', reason: undefined }])
    expect(said).toEqual(['Asked for. The card is in the channel, and its thread tells how it ends.'])
  })
})

describe('a request from a form', () => {
  const submitForm = (submit: Submit, blockId: string | ((error: unknown) => string) = 'server') =>
    submitFromForm(submit, { origin, deliveryKey: 'd1' } as Submission, { change, input: {}, reason: 'maintenance', blockId, again })

  it('closes the form when it is accepted', async () => {
    expect(await submitForm(async () => sent)).toMatchObject({ is: 'accepted' })
  })

  it('keeps the form open with a refusal at its field', async () => {
    const answer = await submitForm(refuseWith(new UserError('No server <web-2>.')))

    expect(answer).toMatchObject({ is: 'refused', blockId: 'server', problem: { text: 'No server &lt;web-2&gt;.' } })
    expect(answer.is === 'refused' && answer.again(answer.problem).title.text).toBe('No server &lt;web-2&gt;.')
  })

  it('can choose the field by the refusal', async () => {
    const fieldOf = (error: unknown) => (error instanceof UserError ? 'new-name' : 'virtual-machine')
    expect(await submitForm(refuseWith(new UserError('Too long.')), fieldOf)).toMatchObject({ is: 'refused', blockId: 'new-name' })
  })

  it('throws an error that is not a refusal', async () => {
    const defect = new TypeError('undefined is not a function')
    await expect(submitForm(refuseWith(defect))).rejects.toBe(defect)
  })
})
