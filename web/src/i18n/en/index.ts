import about from "./about.json";
import agents from "./agents.json";
import approvals from "./approvals.json";
import audit from "./audit.json";
import auth from "./auth.json";
import chat from "./chat.json";
import common from "./common.json";
import connections from "./connections.json";
import credentials from "./credentials.json";
import frame from "./frame.json";
import mcp from "./mcp.json";
import models from "./models.json";
import runs from "./runs.json";
import settings from "./settings.json";
import skills from "./skills.json";
import usage from "./usage.json";
import users from "./users.json";

export default { about, agents, approvals, audit, auth, chat, common, connections, credentials, frame, mcp, models, runs, settings, skills, usage, users };
