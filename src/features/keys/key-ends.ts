import type { Ability } from '../../kit/ability.ts'
import { type KeyEnd, keptUntil, readEnds, shownAs, shownEnds } from '../../kit/key-ends.ts'
import { readBriefly } from '../../kit/thing.ts'
import { wholeSection } from '../../slack/blocks.ts'
import { sendKeyEnd } from './end-messages.ts'
import { ownKeyWords } from './end-words.ts'
import { tendKeyEnds } from './end-work.ts'

/** Deletes keys at their ends, and calls their owners before. Also while no rule permits a kind of change, because the ends were promised. */
export const keyEnds: Ability = {
  senders: { 'key-end': sendKeyEnd },
  repeated: () => [{ name: 'key-ends', everyMs: 30_000, run: tendKeyEnds }],
  async home(app, viewer) {
    const ends = await shownEnds(app)
    const own = [...ends.values()].filter((key) => key.requester === viewer.userId && !key.gone).toSorted((a, b) => a.end - b.end)
    const list = own.length === 0 ? undefined : await readBriefly(app.lists.apiKeys())
    const isListed = ({ keyId }: KeyEnd) => list?.items.some(({ id }) => id === keyId) ?? true
    const shown = own.map(async (key) => ({
      ...shownAs(key, list?.items),
      keptUntil: isListed(key) ? await keptUntil(app, key) : undefined,
    }))
    const entries = (await Promise.all(shown)).map((key) => wholeSection(ownKeyWords(key)))
    return { title: `Your keys that end (${entries.length})`, entries, rest: 'keys' }
  },
  /** Those that it is deleting because they have ended. */
  async ownChanges(app, found) {
    const { ends } = await readEnds(app)
    return new Set(found.filter(({ id, at }) => (ends.get(id)?.end ?? at) < at).map(({ id }) => id))
  },
  outdated: async (app) => ({ what: 'ends of keys', count: (await readEnds(app)).outdated.length }),
  create: () => ({ commands: [] }),
}
