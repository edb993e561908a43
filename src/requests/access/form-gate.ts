import { isMachine, type Origin } from '../../domain/approval/origin.ts'
import type { Requester } from '../../domain/approval/people.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import type { Refuse } from './refuse.ts'
import type { People } from './standings.ts'

interface FormGateParts {
  people: Pick<People, 'hasBot' | 'isOpenTo'>
  gate: (origin: Origin, kind: ChangeKind) => Promise<Requester>
  refuse: Refuse
}

/**
 * Creates the checks before a person fills in a form: those of `gate`, and whether Lockkeeper can post the request in the channel. If Slack
 * gives no answer about that, the form opens, and the post shows whether it is possible.
 */
export function createFormGate({ people, gate, refuse }: FormGateParts) {
  /** Checks the channel that the person is in. */
  async function gateForm(origin: Origin, kind: ChangeKind): Promise<Requester> {
    const requester = await gate(origin, kind)
    if ((await people.hasBot(origin.channelId)) === false) throw await refuse(origin, { to: 'request', kind }, { code: 'not-in-channel' })
    return requester
  }

  /**
   * Checks a channel that the person chose in a form. Slack's own picker offers only what they can see, and it is not documented that Slack
   * also checks what is sent. So a private channel must have them as a member: its rules may let all its members request.
   */
  async function gateChosen(origin: Origin, kind: ChangeKind): Promise<Requester> {
    const requester = await gateForm(origin, kind)
    const isOpen = await people.isOpenTo(origin.channelId, origin.userId)
    if (isOpen !== true) throw await refuse(origin, { to: 'request', kind }, { code: 'foreign-channel' })
    return requester
  }

  /**
   * Checks the channel of a form that was sent. It can have been open for hours, and the person may have left a private channel since, whose
   * rules let all its members request. Where Slack gives no answer, the channel in which the form was opened counts.
   */
  async function gateSent(origin: Origin, kind: ChangeKind): Promise<Requester> {
    const requester = await gate(origin, kind)
    const isOpen = isMachine(origin) || (await people.isOpenTo(origin.channelId, origin.userId))
    if (isOpen === false) throw await refuse(origin, { to: 'request', kind }, { code: 'foreign-channel' })
    return requester
  }

  return { gateForm, gateChosen, gateSent }
}
