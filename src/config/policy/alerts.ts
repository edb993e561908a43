import { z } from 'zod'
import type { AlertRoute } from '../../domain/policy/alert-route.ts'
import { isChannelId, quote } from '../notation.ts'
import { formOf, isAscii, isLine, isMap, line, mustBe, quotesNeeded, value } from './values.ts'

/** Parses a map of texts. The texts and their names stay exactly as they are, because they are compared with labels. */
const textsByName = (expected: string, longest: number) =>
  z.unknown().transform((input, context): Map<string, string> => {
    const entries = isMap(input) ? Object.entries(input) : []
    if (entries.length === 0) {
      context.addIssue({ code: 'custom', message: isMap(input) ? `is empty: it must be ${expected}` : mustBe(expected, input) })
    }
    for (const [name, text] of entries) {
      if (isText(name, longest) && isText(text, longest)) continue
      const message = `must be ${expected}, each in one line of up to ${longest} characters. Check ${quote(name)}${quotesNeeded(text)}`
      context.addIssue({ code: 'custom', path: [name], message })
    }
    return new Map(entries)
  })

const isText = (text: unknown, longest: number) => typeof text === 'string' && isLine(text, longest)

const target = line(253, 'a hostname or id')

/** The sites keep the words of the file. Slugs are compared without regard to case. */
const targetsBySite = textsByName('a hostname or id, or one for each site by its slug, such as {ASH: standby-ash}', 253).transform(
  (bySite, context) => {
    const read = new Map([...bySite].map(([slug, server]) => [slug.trim().toLowerCase(), String(server).trim()]))
    if (read.size < bySite.size) context.addIssue({ code: 'custom', message: 'has a site twice, which differs in case only: keep one' })
    return read
  },
)

/** An entry of `alerts` as written in the policy file. */
export const routeSchema = z.strictObject(
  {
    name: line(60, 'a name that people will read'),
    match: textsByName('labels with their values, such as {alertname: NodeDown}', 1_000),
    server: line(200, 'the name of the label that names the server'),
    to: formOf<AlertRoute['to']>(
      (input) => (isMap(input) ? targetsBySite : typeof input === 'string' ? target : undefined),
      'a hostname or id, or one for each site by its slug, such as {ASH: standby-ash}',
    ).refine((to) => (typeof to === 'string' ? [to] : [...to.values()]).every((server) => !server.startsWith('sv_') || isAscii(server)), {
      error: 'has an id with other characters than ASCII: copy the id of the server again',
    }),
    channel: value((input) => (typeof input === 'string' && isChannelId(input) ? input : undefined), 'a channel id (C…, G…)'),
  },
  {
    error: ({ code, input }) => (code === 'invalid_type' ? mustBe('keys with values (name, match and so on)', input) : undefined),
  },
)

export function toRoute({ name, match, server, to, channel }: z.infer<typeof routeSchema>): AlertRoute {
  return { name, match, server, to, channelId: channel }
}
