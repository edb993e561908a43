import type { ModalView } from '@slack/web-api'
import { SeveralServers } from '../../moves/find-server.ts'
import { chooseBelow } from '../../requests/messages/forms/which-one.ts'
import { preset } from '../../slack/blocks/picker.ts'
import type { GivenWords } from '../../slack/commands/commands.ts'
import { fillForm } from '../../slack/commands/forms/fill-form.ts'
import { type NameSource, withSuggestions } from '../../slack/commands/help/unknown-name.ts'
import { Refusal } from '../../slack/errors.ts'
import { readEvacuation } from './arguments.ts'
import type { FindSource } from './find-source.ts'
import type { EvacuationForm } from './form.ts'
import { evacuationModal } from './modal.ts'

interface FillParts {
  findSource: FindSource
  formFor: EvacuationForm['formFor']
  names: (command: string) => Record<string, NameSource>
}

/** Creates the form of an incomplete evacuation, filled with the server that was typed and its addresses. */
export function createFillEvacuation({ findSource, formFor, names }: FillParts) {
  async function found(typed: string) {
    return findSource(typed).catch((error: unknown) => {
      throw error instanceof SeveralServers ? new Refusal(chooseBelow(typed, error.servers.length)) : error
    })
  }

  return async function fillEvacuation(metadata: string, { args, command, problem }: GivenWords): Promise<ModalView> {
    const { first: typed } = readEvacuation(args)
    if (typed === undefined) return evacuationModal({ metadata, problem })
    const lookUp = withSuggestions(found(typed), names(command)).then(({ id, name }) =>
      formFor({ metadata }, { server: preset({ text: name, value: id }) }),
    )
    return fillForm(typed, lookUp, (filled) => ('problem' in filled ? evacuationModal({ metadata, problem: filled.problem }) : filled))
  }
}
