import type { ModalView } from '@slack/web-api'
import type { Change } from '../../domain/change/change.ts'
import { MoveFacts, MoveInput } from '../../domain/elastic-ip-move/elastic-ip-move.ts'
import { isAboutElasticIp } from '../../domain/elastic-ip-move/findings.ts'
import type { Filling } from '../../requests/interactions/forms/filled-form.ts'
import { submitFromForm } from '../../requests/interactions/forms/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit/submit.ts'
import { withPurpose } from '../../requests/messages/forms/purpose.ts'
import { isChoice, keepChoice, preset } from '../../slack/blocks/picker.ts'
import { reasonIn } from '../../slack/blocks/reason-input.ts'
import { refuseForm } from '../../slack/commands/forms/refuse-form.ts'
import type { Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { moveForm, moveModal, serverBlockIn } from './modal.ts'
import { withElasticIp } from './server-picker.ts'

interface MoveFormParts {
  submit: Submit
  change: Change<MoveInput, MoveFacts>
}

/** Creates the form of a move. `filledForm` shows it filled, `formFor` for one Elastic IP, and `submitForm` requests the move. */
export function createMoveForm({ submit, change }: MoveFormParts) {
  function filledForm(metadata: string, { reason, problem, title, ...filling }: Filling): ModalView {
    const [input, facts] = [MoveInput.parse(filling.input), MoveFacts.parse(filling.facts)]
    return moveModal({
      metadata: withElasticIp(withPurpose(metadata, [input.elasticIpId, input.serverId], title), input.elasticIpId),
      elasticIp: preset({ text: facts.address ?? input.elasticIpId, value: input.elasticIpId }),
      server: preset({ text: facts.to.name, value: input.serverId }),
      reason,
      problem,
    })
  }

  /** Renders the form for one Elastic IP, named as in a list. */
  function formFor(metadata: string, elasticIp: { id: string; text: string }): ModalView {
    return moveModal({
      metadata: withElasticIp(metadata, elasticIp.id),
      elasticIp: preset({ text: elasticIp.text, value: elasticIp.id }),
    })
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { values, chosen } = submission
    const serverBlock = serverBlockIn(values)
    const reason = reasonIn(values)
    const again = (problem: Mrkdwn) =>
      moveModal({
        metadata: submission.metadata,
        elasticIp: keepChoice(chosen[moveForm.elasticIp]),
        server: keepChoice(chosen[serverBlock]),
        serverBlock,
        reason,
        problem,
      })
    const input = { elasticIpId: values[moveForm.elasticIp] ?? '', serverId: values[serverBlock] ?? '' }
    const refused = refuseForm(
      {
        [moveForm.elasticIp]: isChoice(input.elasticIpId) ? undefined : mrkdwn`Choose an Elastic IP.`,
        [serverBlock]: isChoice(input.serverId) ? undefined : mrkdwn`Choose a server.`,
      },
      again,
    )
    if (refused) return refused
    return submitFromForm(submit, submission, {
      change,
      input,
      reason,
      blockId: (error) => (isAboutElasticIp(error) ? moveForm.elasticIp : serverBlock),
      again,
    })
  }

  return { filledForm, formFor, submitForm }
}
