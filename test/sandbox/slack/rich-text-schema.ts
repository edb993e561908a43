import { anything, array, byType, type Check, object, string, wholeNumber } from './schema.ts'

const type = anything
const oneOrMore = string({ min: 1 })

const isTrue: Check = (value, at, report) => {
  if (value !== true) report('must be true', at)
}

/** The bot sends links to web pages alone. */
const webAddress: Check = (value, at, report) => {
  if (typeof value !== 'string' || !/^https?:\/\/[^\s]+$/.test(value) || !URL.canParse(value)) report('must be a valid URL', at)
}

const element = byType({
  text: object({ required: { type, text: oneOrMore }, optional: { style: object({ optional: { bold: isTrue, code: isTrue } }) } }),
  user: object({ required: { type, user_id: oneOrMore } }),
  channel: object({ required: { type, channel_id: oneOrMore } }),
  usergroup: object({ required: { type, usergroup_id: oneOrMore } }),
  link: object({ required: { type, url: webAddress }, optional: { text: oneOrMore } }),
  date: object({ required: { type, timestamp: wholeNumber({ min: 0 }), format: oneOrMore } }),
})

/** A section of a rich text, in a rich text block or in a cell of a table. */
export const richTextSection = byType({
  rich_text_section: object({ required: { type, elements: array(element, { min: 1, max: 1_000 }) } }),
})
