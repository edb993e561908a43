/** The distance from the end, in pixels, that still counts as reading the newest message. */
const slack = 60

/**
 * Keeps a list at its newest entry while its reader is there: at its end, or at its beginning if it is higher than the list. Does not move
 * it while they read elsewhere. Call `settle` after every render.
 */
export function createScrolling({ selector, update }: { selector: string; update(): void }) {
  let box: HTMLElement | null = null
  let atEnd = true
  let top = 0
  const watcher = new ResizeObserver(() => {
    follow()
    stay()
  })

  /** Keeps the messages where they are in the window when something appears above the list, such as a notification. */
  function follow() {
    const now = box?.getBoundingClientRect().top ?? 0
    if (box) box.scrollTop += now - top
    top = now
  }

  function stay() {
    if (box && atEnd) box.scrollTop = Math.max(box.scrollTop, newest(box))
  }

  function measure() {
    if (!box) return
    const was = atEnd
    atEnd = newest(box) - box.scrollTop < slack
    if (was !== atEnd) update()
  }

  return {
    atEnd: () => atEnd,

    settle() {
      const found = document.querySelector<HTMLElement>(selector)
      if (found !== box) {
        box = found
        atEnd = true
        watcher.disconnect()
        if (box) {
          top = box.getBoundingClientRect().top
          watcher.observe(box)
          box.addEventListener('scroll', measure, { passive: true })
          // Images load after the text around them.
          box.addEventListener('load', stay, { capture: true })
        }
      }
      stay()
    },

    toEnd() {
      atEnd = true
      stay()
      update()
    },
  }
}

/** Returns how far the list is scrolled for its newest entry. */
function newest(box: HTMLElement): number {
  const end = box.scrollHeight - box.clientHeight
  const entry = [...box.querySelectorAll('article')].at(-1)
  if (!entry || entry.offsetHeight <= box.clientHeight) return end
  return box.scrollTop + entry.getBoundingClientRect().top - box.getBoundingClientRect().top
}

export type Scrolling = ReturnType<typeof createScrolling>
