/** The message that says why an alert led to no request: its notice, or the message of the storm whose thread lists it. */
export interface NoticePlace {
  channelId: string
  /** The time stamp of the message. Replies go to its thread. */
  ts: string
}

/** Writes a place as one text, for the record of an alert. */
export function placeText({ channelId, ts }: NoticePlace): string {
  return `${channelId}/${ts}`
}

/** Reads a place. Undefined for the records of releases that did not write it. */
export function readPlace(text: string): NoticePlace | undefined {
  const [, channelId, ts] = /^([A-Z0-9]+)\/(\d+\.\d+)$/.exec(text) ?? []
  return channelId === undefined || ts === undefined ? undefined : { channelId, ts }
}
