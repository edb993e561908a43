/** What the page's address keeps, for Back, reloads and second windows: the person, the channel or the app's tab, and the open thread. */
export interface Place {
  as: string | null
  channel: string | null
  thread: string | null
}

interface Entry {
  /** Whether Back from this entry closes a form. */
  form?: boolean
}

export const isSamePlace = (a: Place, b: Place) => addressOf(a) === addressOf(b)

const addressOf = ({ as, channel, thread }: Place) => {
  const kept = Object.entries({ as, channel, thread }).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
  return `?${new URLSearchParams(kept)}`
}

/** Writes every place into the browser's history, so that Back returns to the place before and stays on the page. */
export const address = {
  read(): Place {
    const query = new URLSearchParams(location.search)
    return { as: query.get('as'), channel: query.get('channel'), thread: query.get('thread') }
  },

  /** Sets the first place, which replaces what was typed into the address bar. */
  start(place: Place) {
    history.replaceState({}, '', addressOf(place))
  },

  go(place: Place) {
    if (addressOf(place) !== location.search) history.pushState({}, '', addressOf(place))
  },

  /** Adds an entry for an open form, so that Back closes it. */
  enterForm() {
    const entry: Entry = { form: true }
    if (!isForm()) history.pushState(entry, '', location.search)
  },

  /** Makes that entry a usual one, once the form was closed in another way. Removing it could race with the next move. */
  leaveForm() {
    if (isForm()) history.replaceState({}, '', location.search)
  },

  /** Calls back when Back or Forward was pressed. */
  follow(onMove: (place: Place) => void) {
    addEventListener('popstate', () => onMove(this.read()))
  },
}

const isForm = () => (history.state as Entry | null)?.form === true
