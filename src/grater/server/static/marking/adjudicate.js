// The fields for a correction of one's own are shown where they are asked for.  The form works without this.

for (const place of document.querySelectorAll(".place")) {
  const own = place.querySelector(".own");
  const choice = place.querySelector('input[value="own"]');
  const show = () => { own.hidden = !choice.checked; };
  place.addEventListener("change", show);
  show();
}
