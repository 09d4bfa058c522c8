// What the studio adds to viser's page: a stick to fly with, messages, video, and a line to the studio that comes back.
"use strict";

window.airloom = (() => {
  const EDITION = document.currentScript.dataset.edition;
  const TAB = crypto.getRandomValues(new Uint32Array(2)).join("-");

  // -- where things are shown ---------------------------------------------------------------------------------------

  const STYLE = `
    .airloom { position: fixed; z-index: 10000; font: 13px/1.5 system-ui, sans-serif; color: #fff; pointer-events: none;
      background: rgb(20 26 36 / 80%); border-radius: 8px; padding: 8px 12px; transition: opacity .2s }
    .airloom:not(.shown) { opacity: 0; visibility: hidden }
    #airloom-stick { left: 12px; bottom: 12px; display: flex; gap: 12px; align-items: center }
    #airloom-stick svg { width: 64px; height: 64px; fill: none; stroke: #8fa3bf }
    #airloom-stick circle.knob { fill: #4da3ff; stroke: none }
    #airloom-stick kbd { background: #5a6980; border-radius: 3px; padding: 0 4px; font: inherit }
    #airloom-toast { left: 50%; bottom: 24px; transform: translateX(-50%); max-width: 80vw }
    #airloom-ended { left: 50%; top: 40%; transform: translate(-50%, -50%); font-size: 18px; padding: 16px 24px }
    #airloom-filming { right: 12px; bottom: 12px }
    #airloom-filming::before { content: "● "; color: #ff5252 }`;

  const KNOB = `<svg viewBox="-32 -32 64 64"><circle r="30"/><path d="M-30 0H30M0-30V30" opacity=".4"/>
    <circle class="knob" r="7"/></svg>`;
  const HELP = `<div><b class="caption"></b><br><kbd>↑</kbd> <kbd>↓</kbd> <kbd>←</kbd> <kbd>→</kbd> fly &nbsp; <kbd>W</kbd> <kbd>S</kbd> up, down
    &nbsp; <kbd>A</kbd> <kbd>D</kbd> turn<br><kbd>T</kbd> take off &nbsp; <kbd>L</kbd> land &nbsp; <kbd>1</kbd>–<kbd>5</kbd>
    modes &nbsp; <kbd>Esc</kbd> rotors off<br><span class="doing"></span></div>`;

  const elements = {};
  addEventListener("DOMContentLoaded", () => {
    document.head.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
    const contents = {
      stick: KNOB + KNOB + HELP,
      toast: "",
      ended: "",
      filming: "recording",
    };
    for (const [name, innerHTML] of Object.entries(contents)) {
      elements[name] = Object.assign(document.createElement("div"), { id: `airloom-${name}`, className: "airloom", innerHTML });
      document.body.append(elements[name]);
    }
    connect();
  });

  const show = (name, on) => elements[name].classList.toggle("shown", on);

  let toastTimer;
  function toast(text) {
    elements.toast.textContent = text;
    show("toast", true);
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => show("toast", false), 4000);
  }

  // -- the stick: axes and buttons in the order of the "standard gamepad", which is that of the simulation ----------

  const LEFT_X = 0, LEFT_Y = 1, RIGHT_X = 2, RIGHT_Y = 3;
  const AXIS_KEYS = {
    ArrowUp: [LEFT_Y, -1], ArrowDown: [LEFT_Y, 1], ArrowLeft: [LEFT_X, -1], ArrowRight: [LEFT_X, 1],
    KeyW: [RIGHT_Y, -1], KeyS: [RIGHT_Y, 1], KeyA: [RIGHT_X, -1], KeyD: [RIGHT_X, 1],
  };
  const CROSS = 0, CIRCLE = 1, SQUARE = 2, TRIANGLE = 3, L1 = 4, R1 = 5, L2 = 6, R2 = 7;
  const BUTTON_KEYS = {
    Digit1: [CROSS, "position"], Digit2: [CIRCLE, "velocity"], Digit3: [SQUARE, "attitude"],
    Digit4: [TRIANGLE, "turn rates"], Digit5: [L1, "torque"], Digit6: [R1, "rotors off"], Escape: [R1, "rotors off"],
    KeyT: [R2, "take off"], KeyL: [L2, "land"],
  };
  const AXES = 4, BUTTONS = 17, MOST_AXES = 16, MOST_BUTTONS = 32;

  let flying = false;
  const down = new Set();
  const tapped = new Set(); // also keys that were let go again before anybody looked

  function fly(on) {
    flying = on;
    letGo();
    if (on) document.activeElement?.blur(); // or a field that was used before would swallow the keys
    show("stick", on);
  }

  function letGo() {
    down.clear();
    tapped.clear();
  }

  const typing = (event) => event.code !== "Escape" && event.target.closest?.("input, textarea, select, [contenteditable]");
  const ours = (event) => event.code in AXIS_KEYS || event.code in BUTTON_KEYS;

  function onKey(event) {
    if (!flying || !ours(event)) return;
    if (event.type === "keyup") down.delete(event.code);
    if (typing(event) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // or the same key moves viser's camera
    if (event.type === "keydown" && !event.repeat) {
      down.add(event.code);
      tapped.add(event.code);
    }
  }
  addEventListener("keydown", onKey, true);
  addEventListener("keyup", onKey, true);
  addEventListener("blur", letGo);
  addEventListener("gamepaddisconnected", () => {
    if (!flying) return;
    fly(false);
    say({ fly: false });
    toast("The game controller is gone: nobody flies any more.");
  });

  function say(message) {
    if (line?.readyState === WebSocket.OPEN) line.send(JSON.stringify(message));
  }

  const pad = () => (navigator.getGamepads?.() ?? []).find((it) => it?.connected);
  const clamped = (value) => Math.max(-1, Math.min(1, value || 0));

  function stickState(keys) {
    const device = pad();
    const axes = device ? device.axes.slice(0, MOST_AXES).map(clamped) : [];
    const buttons = device ? device.buttons.slice(0, MOST_BUTTONS).map((button) => button.pressed) : [];
    while (axes.length < AXES) axes.push(0);
    while (buttons.length < BUTTONS) buttons.push(false);
    const pushed = {};
    for (const key of keys) {
      if (key in BUTTON_KEYS) buttons[BUTTON_KEYS[key][0]] = true;
      else pushed[AXIS_KEYS[key][0]] = (pushed[AXIS_KEYS[key][0]] ?? 0) + AXIS_KEYS[key][1];
    }
    for (const [axis, value] of Object.entries(pushed)) axes[axis] = value;
    return { axes, buttons };
  }

  function draw({ axes, buttons }) {
    elements.stick.querySelectorAll(".knob").forEach((knob, side) => {
      knob.setAttribute("cx", 24 * axes[2 * side]);
      knob.setAttribute("cy", 24 * axes[2 * side + 1]);
    });
    const doing = Object.values(BUTTON_KEYS).filter(([button]) => buttons[button]).map(([, name]) => name);
    elements.stick.querySelector(".doing").textContent = [...new Set(doing)].join(", ") || pad()?.id || "";
  }

  const SILENCE = 300; // ms, less than after which the studio takes the stick for put down
  let sentAt = 0;

  setInterval(() => {
    if (!flying || !document.hasFocus()) return; // the simulation takes silence as hands off
    const heldUp = line?.bufferedAmount > 4096; // late is worse than never
    if (line?.readyState !== WebSocket.OPEN || heldUp) return;
    if (performance.now() - sentAt > SILENCE) {
      // a button in the first state of a stick counts as held: what was pressed while the page was busy comes second
      say(stickState([...down].filter((key) => !tapped.has(key))));
    }
    const state = stickState(new Set([...down, ...tapped]));
    tapped.clear();
    draw(state);
    say(state);
    sentAt = performance.now();
  }, 1000 / 30);

  // -- what the panels show can be clicked on ------------------------------------------------------------------------

  addEventListener("click", ({ target }) => {
    const select = target.closest?.("[data-select]")?.dataset.select;
    if (select) say({ select });
  });

  // -- what viser tells everybody without a graphics card, and nobody can change, covers the view ---------------------

  function hideNotices() {
    for (const notice of document.querySelectorAll(".mantine-Notification-root")) {
      notice.hidden ||= notice.textContent.startsWith("Software WebGL");
      notice.style.display = notice.hidden ? "none" : "";
    }
  }
  new MutationObserver(hideNotices).observe(document, { childList: true, subtree: true });

  // -- graphics drawn by the processor: smooth edges would double the work of every picture ---------------------------

  function drawnByProcessor() {
    const gl = new OffscreenCanvas(1, 1).getContext("webgl2");
    const name = gl?.getParameter(gl.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER);
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  }

  if (drawnByProcessor()) {
    const getContext = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, options) {
      return getContext.call(this, kind, /^webgl/.test(kind) ? { ...options, antialias: false } : options);
    };
  }

  // -- video --------------------------------------------------------------------------------------------------------

  const FORMATS = ["video/webm;codecs=vp9", "video/webm", "video/mp4"];
  let recorder = null;

  function record(on, name = "airloom.webm") {
    if (on && !recorder) begin(name);
    if (!on) recorder?.stop();
  }

  function begin(name) {
    const mimeType = FORMATS.find((format) => window.MediaRecorder?.isTypeSupported(format));
    const canvases = [...document.querySelectorAll("canvas")].sort((a, b) => b.width * b.height - a.width * a.height);
    if (!mimeType || !canvases.length) return toast("This browser cannot record a video.");
    const parts = [];
    recorder = new MediaRecorder(canvases[0].captureStream(30), { mimeType, videoBitsPerSecond: 8e6 });
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = () => {
      recorder = null;
      show("filming", false);
      save(new Blob(parts, { type: mimeType }), mimeType.includes("mp4") ? name.replace(/\.webm$/, ".mp4") : name);
    };
    recorder.start(1000);
    show("filming", true);
  }

  function save(blob, download) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  // -- the line to the studio ---------------------------------------------------------------------------------------

  const caption = (text) => (elements.stick.querySelector(".caption").textContent = text);
  const camera = (mode) => (document.documentElement.dataset.camera = mode);
  const orders = { edition: (it) => it === EDITION || location.reload(), fly, caption, camera, toast, record };
  let line = null;
  let tries = 0;
  let lost = false;
  const LOST = "The connection to the studio is lost. Trying again…";
  let farewell = null; // said by a studio that ends, not by one that dies or cannot be reached
  orders.farewell = (text) => (farewell = text);

  function connect() {
    line = new WebSocket(`${location.origin.replace(/^http/, "ws")}/stick?tab=${TAB}`);
    line.onopen = onOpen;
    line.onclose = onClose;
    line.onmessage = ({ data }) => {
      const { name, ...order } = JSON.parse(data);
      for (const [what, value] of Object.entries(order)) orders[what]?.(value, name);
    };
  }

  function onOpen() {
    tries = 0;
    farewell = null;
    show("ended", false);
    if (lost && !document.hasFocus()) wakeViser(); // viser itself waits until somebody looks
    lost = false;
  }

  async function onClose() {
    fly(false);
    record(false);
    lost = true;
    elements.ended.textContent = farewell ?? LOST;
    show("ended", tries > 0);
    setTimeout(connect, Math.min(500 * 1.5 ** tries++, 5000));
    const answer = await fetch("/favicon.svg", { cache: "no-store" }).catch(() => null);
    if (answer?.status === 401) location.reload(); // it is back with another token, and its page asks for it
  }

  // -- viser's own line, told apart by tab so that the studio knows which line belongs to which view ------------------

  // viser tries again every second, and gives up the attempt before: on a slow machine none would ever get through

  let wakeViser = () => {};
  let trying = false;
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    if (message?.type === "retry") {
      if (trying) return;
      trying = true;
    }
    if (message?.type === "set_server") {
      trying = true;
      this.addEventListener("message", ({ data }) => (trying &&= !["closed", "connected"].includes(data?.type)));
      wakeViser = () => this.postMessage({ type: "retry" });
      message = { ...message, server: `${message.server}/?tab=${TAB}` };
    }
    return post.call(this, message, ...rest);
  };

  return { fly, toast, record };
})();
