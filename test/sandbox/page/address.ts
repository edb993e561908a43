import { isBeside } from './side-by-side.ts'

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
export function createAddress() {
  /** The browser goes back some time after the call. What comes next waits for that. */
  let turn = Promise.resolve()
  let isLeaving = false

  function inTurn(act: () => void | Promise<void>) {
    turn = turn.then(act)
  }

  async function back() {
    isLeaving = true
    await new Promise<void>((resolve) => {
      addEventListener('popstate', () => resolve(), { once: true })
      history.back()
    })
    isLeaving = false
  }

  return {
    isForm,

    /** Sets the first place, which replaces what was typed into the address bar. */
    start: (place: Place) => history.replaceState({}, '', addressOf(place)),

    /** Adds an entry for another place, or for the place behind a form. */
    go: (place: Place) =>
      inTurn(() => {
        if (addressOf(place) !== location.search || isForm()) history.pushState({}, '', addressOf(place))
      }),

    /** Adds an entry for an open form, so that Back closes it. */
    enterForm: () =>
      inTurn(() => {
        const entry: Entry = { form: true }
        if (!isForm()) history.pushState(entry, '', location.search)
      }),

    /** Removes that entry, once the form was closed in another way. Two frames share one history, so there it becomes a usual one. */
    leaveForm: () =>
      inTurn(() => {
        if (!isForm()) return undefined
        return isBeside ? history.replaceState({}, '', location.search) : back()
      }),

    /** Calls back when Back or Forward was pressed. */
    follow(onMove: (place: Place) => void) {
      addEventListener('popstate', () => {
        if (!isLeaving) onMove(readAddress())
      })
    },
  }
}

export function readAddress(): Place {
  const query = new URLSearchParams(location.search)
  return { as: query.get('as'), channel: query.get('channel'), thread: query.get('thread') }
}

const isForm = () => (history.state as Entry | null)?.form === true
