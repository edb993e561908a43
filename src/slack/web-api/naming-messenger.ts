import type { Naming } from '../text/naming.ts'
import type { Messenger } from './messenger.ts'
import type { Respond } from './response-url.ts'

/** Adds the names of the configuration to everything that this messenger sends. */
export function namingMessenger(messenger: Messenger, { inBlocks, inMessage }: Naming): Messenger {
  return {
    ...messenger,
    post: (where, message) => messenger.post(where, inMessage(message)),
    update: (where, message) => messenger.update(where, inMessage(message)),
    postEphemeral: (where, message) => messenger.postEphemeral(where, inMessage(message)),
    openView: (triggerId, view) => messenger.openView(triggerId, inBlocks(view)),
    updateView: (viewId, view) => messenger.updateView(viewId, inBlocks(view)),
    publishHome: (userId, blocks) => messenger.publishHome(userId, inBlocks(blocks)),
  }
}

/** Adds them to every answer through a response URL. */
export function namingRespond(respond: Respond, { inMessage }: Naming): Respond {
  return (url, message, options) => respond(url, inMessage(message), options)
}
