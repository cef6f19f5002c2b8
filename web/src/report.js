// What makes report.html move. The page is complete without it but for the plots and the animation.
import "./report.css";
import { Clock } from "./clock.js";
import { readData, doubles } from "./data.js";
import { startFormulas } from "./formulas.js";
import { startPlots } from "./plots.js";
import { startStage } from "./stage.js";
import { startTheme } from "./theme.js";

document.documentElement.classList.remove("plain");
startTheme(document.querySelector("nav"));
const data = readData();
const times = data.scene ? doubles(data.scene.t) : data.columns.length ? data.columns[0].t : [0, 1];
const clock = new Clock(times[0], times[times.length - 1]);
startFormulas();
startStage(document.getElementById("stage"), data, times, clock);
startPlots(data, clock);
