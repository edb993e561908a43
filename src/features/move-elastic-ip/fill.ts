import type { ModalView, PlainTextOption } from '@slack/web-api'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead, throwIfOld } from '../../account-api/lists/cut-list.ts'
import { isBgp } from '../../domain/account/elastic-ip.ts'
import { refuseMove } from '../../domain/elastic-ip-move/check.ts'
import { sameAddress } from '../../domain/elastic-ip-move/elastic-ip-move.ts'
import { UnknownName } from '../../domain/errors/errors.ts'
import { serverNameProblem } from '../../domain/text/address-problem.ts'
import { chooseServer } from '../../moves/find-server.ts'
import { chooseBelow } from '../../requests/messages/forms/which-one.ts'
import type { GivenWords } from '../../slack/commands/commands.ts'
import { fillForm } from '../../slack/commands/forms/fill-form.ts'
import { withSuggestions } from '../../slack/commands/help/unknown-name.ts'
import { Refusal } from '../../slack/errors.ts'
import { readMove } from './arguments.ts'
import { moveModal } from './modal.ts'
import { elasticIpOption, serverOption } from './pickers.ts'
import { withElasticIp } from './server-picker.ts'
import { namesOf } from './suggestions.ts'

interface Filled {
  elasticIp?: PlainTextOption | undefined
  server?: PlainTextOption | undefined
}

/** Creates the form of an incomplete move, filled with the Elastic IP or the server that was typed. */
export function createFillMove(inventory: Pick<Inventory, 'elasticIps' | 'servers'>) {
  return async function fillMove(metadata: string, { args, command, problem }: GivenWords): Promise<ModalView> {
    const { first, second } = readMove(args)
    const typed = first ?? second
    if (typed === undefined) return moveModal({ metadata, problem })
    const lookUp = withSuggestions(find({ typed, isServer: first === undefined }), namesOf(inventory, command))
    return fillForm(typed, lookUp, (filled) => {
      if ('problem' in filled) return moveModal({ metadata, problem: filled.problem })
      return moveModal({ metadata: withElasticIp(metadata, filled.elasticIp?.value), ...filled })
    })
  }

  /** A single word is an Elastic IP or, if there is none of that name, a server. */
  async function find({ typed, isServer }: { typed: string; isServer: boolean }): Promise<Filled> {
    const [elasticIps, servers] = await Promise.all([asFarAsRead(inventory.elasticIps()), asFarAsRead(inventory.servers())])
    const elasticIp = isServer ? undefined : elasticIps.items.find(({ id, address }) => id === typed || sameAddress(address, typed))
    if (elasticIp && isBgp(elasticIp)) refuseMove({ code: 'bgp-address', address: elasticIp.address })
    if (elasticIp) return { elasticIp: elasticIpOption(elasticIp) }
    const named = servers.items.filter(({ id, hostname }) => id === typed || hostname?.toLowerCase() === typed.toLowerCase())
    if (named.length === 0) {
      // An item that is missing in a list that was cut off may still exist. In that case these reads throw.
      await Promise.all([inventory.elasticIps(), inventory.servers()])
      for (const list of [elasticIps, servers]) throwIfOld(list)
    }
    if (named.length === 0 && !isServer) throw new UnknownName('Elastic IP', typed, serverNameProblem(typed))
    if (named.length > 1) throw new Refusal(chooseBelow(typed, named.length))
    return { server: serverOption(chooseServer(typed, named, undefined)) }
  }
}
