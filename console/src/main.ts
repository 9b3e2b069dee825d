import './style.css';
import { App } from './app';
import { startTheme } from './theme';

startTheme();
new App(document.body).start();
