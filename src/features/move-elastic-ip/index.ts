import type { ModalView } from '@slack/web-api'
import type { AccountApi } from '../../account-api/client.ts'
import { asFarAsRead } from '../../account-api/cut-list.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { MoveFacts, MoveInput } from '../../domain/elastic-ip-move.ts'
import { submitFromCommand, submitFromForm } from '../../requests/interactions/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit.ts'
import { reasonIn } from '../../slack/blocks/inputs.ts'
import { isChoice, keepChoice, preset } from '../../slack/blocks/picker.ts'
import type { Command, CommandCall } from '../../slack/commands/commands.ts'
import type { Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { Refusal } from '../../slack/errors.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { createMoveChange } from './change.ts'
import { usage } from './messages.ts'
import { moveForm, moveModal, serverBlockIn } from './modal.ts'
import { elasticIpChoices } from './pickers.ts'
import { createResolve } from './resolve.ts'
import { createServerPicker, withElasticIp } from './server-picker.ts'

interface MoveElasticIpParts {
  accountApi: AccountApi
  inventory: Inventory
  submit: Submit
}

/** `/infra ip move`: requests to move an Elastic IP to another server, by arguments or by a form. */
export const moveElasticIp = { kinds: ['ip.move'], create } satisfies FeatureDefinition

function create({ accountApi, inventory, submit }: MoveElasticIpParts): Feature {
  const change = createMoveChange(accountApi)
  const resolve = createResolve(accountApi)
  const { offerServers, elasticIpChosen } = createServerPicker(inventory)

  async function run(call: CommandCall): Promise<void> {
    const [elasticIp, server, ...rest] = call.args
    if (elasticIp === undefined || server === undefined || rest.length > 0) throw new Refusal(usage(call.slashCommand.origin.command))
    const input = await resolve(elasticIp, server, { signal: AbortSignal.timeout(8_000) })
    await submitFromCommand(submit, call, { change, input })
  }

  function formAgain(metadata: string, before: { input: unknown; facts: unknown; reason: string | undefined }): ModalView {
    const [input, facts] = [MoveInput.parse(before.input), MoveFacts.parse(before.facts)]
    return moveModal({
      metadata: withElasticIp(metadata, input.elasticIpId),
      elasticIp: preset({ text: facts.address ?? input.elasticIpId, value: input.elasticIpId }),
      server: preset({ text: facts.to.name, value: input.serverId }),
      reason: before.reason,
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
    if (!isChoice(input.elasticIpId)) return { is: 'refused', blockId: moveForm.elasticIp, problem: mrkdwn`Choose an Elastic IP.`, again }
    if (!isChoice(input.serverId)) return { is: 'refused', blockId: serverBlock, problem: mrkdwn`Choose a server.`, again }
    return submitFromForm(submit, submission, { change, input, reason, blockId: serverBlock, again })
  }

  const command: Command = {
    words: 'ip move',
    usage: '[<elastic ip> <server>]',
    summary: 'Moves an Elastic IP to another server of its project and site. Without arguments a form opens.',
    example: '203.0.113.10 web-2',
    need: 'ip.move',
    form: (metadata) => moveModal({ metadata }),
    prepare: () => inventory.prefetch('elasticIps', 'servers'),
    run,
  }

  return {
    commands: [command],
    changes: [change],
    forms: { 'ip.move': formAgain },
    clicks: { [moveForm.elasticIp]: elasticIpChosen },
    submissions: { [moveForm.callbackId]: submitForm },
    options: {
      [moveForm.elasticIp]: async ({ typed }) => {
        const { items, cut } = await asFarAsRead(inventory.elasticIps())
        return elasticIpChoices(items, typed, cut)
      },
      [moveForm.server]: offerServers,
    },
  }
}
