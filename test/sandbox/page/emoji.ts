/** The common names, enough for what people and bots write; an unknown name is shown as it was typed. */
const glyphs: Record<string, string> = Object.fromEntries(
  `
  +1 👍 thumbsup 👍 -1 👎 thumbsdown 👎 ok_hand 👌 clap 👏 wave 👋 raised_hands 🙌 pray 🙏 muscle 💪 point_right 👉 point_left 👈
  point_up ☝️ point_down 👇 eyes 👀 writing_hand ✍️ handshake 🤝 raising_hand 🙋 shrug 🤷 facepalm 🤦
  smile 😄 slightly_smiling_face 🙂 simple_smile 🙂 grin 😁 joy 😂 wink 😉 blush 😊 thinking_face 🤔 sweat_smile 😅 sunglasses 😎 cry 😢
  sob 😭 scream 😱 sleeping 😴 zzz 💤 partying_face 🥳 innocent 😇 neutral_face 😐 disappointed 😞 confused 😕 angry 😠 skull 💀
  robot_face 🤖 ghost 👻 see_no_evil 🙈
  heart ❤️ broken_heart 💔 star ⭐ star2 🌟 sparkles ✨ fire 🔥 boom 💥 zap ⚡ tada 🎉 confetti_ball 🎊 rocket 🚀 100 💯
  white_check_mark ✅ heavy_check_mark ✔️ ballot_box_with_check ☑️ x ❌ negative_squared_cross_mark ❎ no_entry ⛔ no_entry_sign 🚫
  warning ⚠️ exclamation ❗ heavy_exclamation_mark ❗ question ❓ grey_question ❔ bangbang ‼️ sos 🆘 rotating_light 🚨
  information_source ℹ️ bulb 💡 mag 🔍 mag_right 🔎 bell 🔔 no_bell 🔕 loudspeaker 📢 mega 📣 speech_balloon 💬 thought_balloon 💭
  hourglass ⌛ hourglass_flowing_sand ⏳ stopwatch ⏱️ alarm_clock ⏰ clock1 🕐 clock3 🕒 watch ⌚ calendar 📅 date 📅 spiral_calendar_pad 🗓️
  lock 🔒 unlock 🔓 closed_lock_with_key 🔐 key 🔑 old_key 🗝️ shield 🛡️ bust_in_silhouette 👤 busts_in_silhouette 👥
  link 🔗 paperclip 📎 pushpin 📌 round_pushpin 📍 bookmark 🔖 label 🏷️ memo 📝 pencil 📝 pencil2 ✏️ clipboard 📋 page_facing_up 📄
  package 📦 inbox_tray 📥 outbox_tray 📤 file_folder 📁 open_file_folder 📂 card_index 📇 chart_with_upwards_trend 📈 bar_chart 📊
  computer 💻 desktop_computer 🖥️ floppy_disk 💾 cd 💿 electric_plug 🔌 battery 🔋 satellite_antenna 📡 globe_with_meridians 🌐
  earth_africa 🌍 earth_americas 🌎 earth_asia 🌏 cloud ☁️ sunny ☀️ snowflake ❄️ ocean 🌊 anchor ⚓ ship 🚢 construction 🚧
  wrench 🔧 hammer 🔨 hammer_and_wrench 🛠️ gear ⚙️ nut_and_bolt 🔩 toolbox 🧰 broom 🧹 wastebasket 🗑️ fire_extinguisher 🧯 test_tube 🧪
  arrow_right ➡️ arrow_left ⬅️ arrow_up ⬆️ arrow_down ⬇️ arrow_forward ▶️ arrow_backward ◀️ leftwards_arrow_with_hook ↩️
  arrow_right_hook ↪️ arrows_counterclockwise 🔄 repeat 🔁 left_right_arrow ↔️ fast_forward ⏩ rewind ⏪ double_vertical_bar ⏸️
  black_circle ⚫ white_circle ⚪ red_circle 🔴 large_blue_circle 🔵 large_blue_square 🟦 large_green_circle 🟢 large_yellow_circle 🟡
  large_orange_circle 🟠 large_purple_circle 🟣 white_small_square ▫️ black_small_square ▪️ small_blue_diamond 🔹 small_orange_diamond 🔸
  one 1️⃣ two 2️⃣ three 3️⃣ four 4️⃣ five 5️⃣ heavy_plus_sign ➕ heavy_minus_sign ➖ moneybag 💰 dollar 💵 euro 💶 credit_card 💳
  coffee ☕ beer 🍺 pizza 🍕 cake 🍰 trophy 🏆 medal 🏅 checkered_flag 🏁 triangular_flag_on_post 🚩 waving_white_flag 🏳️ crystal_ball 🔮
  `
    .trim()
    .split(/\s+/)
    .reduce<[string, string][]>((pairs, word, index, words) => {
      if (index % 2 === 0) pairs.push([word, words[index + 1] ?? ''])
      return pairs
    }, []),
)

export function emojiNamed(name: string): string | undefined {
  return Object.hasOwn(glyphs, name) ? glyphs[name] : undefined
}
