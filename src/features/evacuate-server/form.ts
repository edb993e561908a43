import type { ModalView, PlainTextOption } from '@slack/web-api'
import type { Change } from '../../domain/change/change.ts'
import { CheckFailed } from '../../domain/errors/errors.ts'
import { EvacuationFacts, EvacuationInput, mostEvacuated } from '../../domain/evacuation/evacuation.ts'
import { withinOr } from '../../domain/within.ts'
import type { Filling } from '../../requests/interactions/forms/filled-form.ts'
import { submitFromForm } from '../../requests/interactions/forms/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit/submit.ts'
import { withPurpose } from '../../requests/messages/forms/purpose.ts'
import { isChoice, keepChoice, preset } from '../../slack/blocks/picker.ts'
import { reasonIn } from '../../slack/blocks/reason-input.ts'
import { refuseForm } from '../../slack/commands/forms/refuse-form.ts'
import type { Click, Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { toUserWords } from '../../slack/errors.ts'
import { readMetadata, writeMetadata } from '../../slack/receive/metadata.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { type OfferAddresses, requestedAddresses, stillRequested, type Wanted } from './addresses.ts'
import { nothingLeftView } from './gone.ts'
import { tooManyTicked } from './messages.ts'
import { addressGroupIds, type EvacuationFormView, evacuationForm, evacuationModal, keptAddresses, tickedAddresses } from './modal.ts'
import type { OfferedAddresses } from './offered.ts'

/** A form opens or changes within this time, even if the account API is slow. */
const readMs = 1_200

interface FormParts {
  submit: Submit
  change: Change<EvacuationInput, EvacuationFacts>
  offerAddresses: OfferAddresses
}

type Chosen = Pick<EvacuationFormView, 'server' | 'target'> & { ticked?: string[] | undefined }

/** Creates the form of an evacuation: `formFor` shows it for chosen servers, and `submitForm` requests the evacuation. */
export function createEvacuationForm({ submit, change, offerAddresses }: FormParts) {
  /** Shows the addresses of the chosen server. Without them, the form moves all that the server has. */
  async function formFor(view: EvacuationFormView, { server, target, ticked }: Chosen): Promise<ModalView> {
    const filled = { ...view, metadata: withServer(view.metadata, server?.value), server, target }
    if (server?.value === undefined) return evacuationModal(filled)
    const read = await readFor({ serverId: server.value, targetId: target?.value, ticked })
    if (!('problem' in read)) return evacuationModal({ ...filled, addresses: read })
    return evacuationModal({ ...filled, problem: view.problem ?? read.problem })
  }

  async function readFor(wanted: Wanted): Promise<OfferedAddresses | { problem: Mrkdwn }> {
    const late = { problem: mrkdwn`Couldn't read the addresses of this server in time. Choose it again to see them.` }
    try {
      return await withinOr(readMs, offerAddresses(wanted, AbortSignal.timeout(readMs)), late)
    } catch (error) {
      const problem = toUserWords(error)
      if (problem === undefined) throw error
      return { problem }
    }
  }

  /** Shows a form filled from an earlier request, without a read. */
  function filledForm(metadata: string, filling: Filling): ModalView {
    return evacuationModal(viewOf(metadata, filling).view)
  }

  /** Shows the same with the addresses as the account shows them now, because one of them may have moved to another server since. */
  async function freshForm(metadata: string, filling: Filling): Promise<ModalView> {
    const { input, requested, view } = viewOf(metadata, filling)
    const ticked = requested.offered.filter(({ isTicked }) => isTicked).map(({ elasticIpId }) => elasticIpId)
    const now = await readFor({ serverId: input.serverId, targetId: input.targetId, ticked })
    if ('problem' in now) return evacuationModal(view)
    // The earlier request itself explains nothing.
    const { undoes, repeats } = readMetadata(metadata) ?? {}
    const isOther = now.lastMove !== undefined && now.lastMove.id !== (undoes ?? repeats)?.id
    const addresses = { ...stillRequested(now, requested), lastMove: isOther ? now.lastMove : undefined }
    return nothingLeftView(addresses) ?? evacuationModal({ ...view, addresses })
  }

  /** Shows the form for a server as a list names it. Its addresses appear once the target is chosen. */
  function formForServer(metadata: string, { id, text }: { id: string; text: string }): ModalView {
    return evacuationModal({ metadata: withServer(metadata, id), server: preset({ text, value: id }) })
  }

  /** Shows the addresses of a server that was chosen in the form, or which of them can be moved to the target. */
  async function serversChosen({ view }: Click): Promise<void> {
    if (!view) return
    const server = keepChoice(view.chosen[evacuationForm.server])
    const target = keepChoice(view.chosen[evacuationForm.target])
    const isSame = server?.value === readMetadata(view.metadata)?.extra
    const ticked = isSame ? tickedAddresses(view.ticked) : undefined
    await view.update(await formFor({ metadata: view.metadata, reason: reasonIn(view.values) }, { server, target, ticked }))
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { values, chosen, ticked } = submission
    const reason = reasonIn(values)
    const [serverId = '', targetId = ''] = [values[evacuationForm.server], values[evacuationForm.target]]
    const kept: Record<'server' | 'target', PlainTextOption | undefined> = {
      server: keepChoice(chosen[evacuationForm.server]),
      target: keepChoice(chosen[evacuationForm.target]),
    }
    const addresses = keptAddresses(submission.blocks, ticked)
    const again = (problem: Mrkdwn) => evacuationModal({ metadata: submission.metadata, ...kept, addresses, reason, problem })
    const elasticIpIds = tickedAddresses(ticked)
    const [firstGroup] = addressGroupIds(ticked)
    // Without addresses, an evacuation moves all that the server has, and the form showed that none of these can be moved.
    const noneLeft = !elasticIpIds && addresses.length > 0 ? mrkdwn`None of these addresses can be moved.` : undefined
    const refused = refuseForm(
      {
        [evacuationForm.server]: isChoice(serverId) ? noneLeft : mrkdwn`Choose a server.`,
        [evacuationForm.target]: isChoice(targetId) ? undefined : mrkdwn`Choose a target.`,
        ...(elasticIpIds && firstGroup !== undefined ? { [firstGroup]: wrongCount(elasticIpIds.length) } : {}),
      },
      again,
    )
    if (refused) return refused
    const input = { serverId, targetId, ...(elasticIpIds ? { elasticIpIds } : {}) }
    const blockId = (error: unknown) => (isAboutAddresses(error) && firstGroup ? firstGroup : evacuationForm.target)
    return submitFromForm(submit, submission, { change, input, reason, blockId, again })
  }

  return { formFor, formForServer, filledForm, freshForm, serversChosen, submitForm }
}
export type EvacuationForm = ReturnType<typeof createEvacuationForm>

/** Returns what a form shows that is filled from an earlier request. */
function viewOf(metadata: string, { reason, problem, title, ...filling }: Filling) {
  const [input, facts] = [EvacuationInput.parse(filling.input), EvacuationFacts.parse(filling.facts)]
  const requested = requestedAddresses(facts, input.elasticIpIds)
  const view: EvacuationFormView = {
    metadata: withServer(withPurpose(metadata, [input.serverId, input.targetId], title), input.serverId),
    server: preset({ text: facts.from.name, value: input.serverId }),
    target: preset({ text: facts.to.name, value: input.targetId }),
    addresses: requested,
    reason,
    problem,
  }
  return { input, requested, view }
}

/** Each address that the account does not list for the server is read by itself, so their number is limited. */
function wrongCount(ticked: number): Mrkdwn | undefined {
  if (ticked === 0) return mrkdwn`Choose at least one address.`
  return ticked > mostEvacuated ? tooManyTicked(ticked) : undefined
}

/** Adds the chosen server to the metadata of a form: Slack does not send it with an option load (slackapi/bolt-js 1146). */
function withServer(metadata: string, serverId: string | undefined): string {
  const known = readMetadata(metadata)
  return known ? writeMetadata({ ...known, extra: serverId }) : metadata
}

function isAboutAddresses(error: unknown): boolean {
  return error instanceof CheckFailed && error.finding.code === 'addresses-cannot-move'
}
